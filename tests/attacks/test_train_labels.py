"""A `train` that returns the right words without training does not pass in `check`, `grade` and nbgrader."""

import secrets
from functools import partial
from pathlib import Path

import nbformat
import pytest
from helpers.command_line import ROOT
from helpers.hostile_sources import READS_THE_LABELS
from helpers.minimal import submission_of

from grader.authoring.content import read_all
from grader.authoring.record import record
from grader.bundle.files import load_all, save
from grader.bundle.model import PAGE
from grader.classroom.grade import BoundedGrading, RunConfig, Task
from grader.classroom.groups import Groups
from grader.classroom.store import StoreKey
from grader.engine.attempt import attempt
from grader.engine.engine import Engine
from grader.engine.grading import Grading
from grader.engine.student_file import student_file
from grader.nbgrader.engine_cache import CourseGrader
from grader.report.model import ExerciseResult
from grader.sandbox.choose import choose

QUARTER = 1.3  # a quarter of 5 points, rounded half up


@pytest.fixture(scope="module")
def cases(tmp_path_factory) -> Path:
    """Record cases for a new seed; return their folder."""
    folder, seed = tmp_path_factory.mktemp("cases"), secrets.token_hex(16)
    for assignment in read_all(ROOT / "solutions"):
        if assignment.name in ("08_decoder", "11_capstone"):
            save(record(assignment, seed, diagnosis=False), folder / assignment.name)
    return folder


def outcomes(result: ExerciseResult) -> dict[str, str]:
    return {check.id: check.outcome for check in result.checks}


@pytest.mark.slow
def test_made_up_words_are_not_the_scores_of_the_weights(cases):
    """The decoder's inputs contain the words that it should produce, so right words alone must not pass."""
    launcher = choose()
    engine = Engine(load_all(cases), launcher)
    try:
        submission = submission_of(READS_THE_LABELS, "capstone.py")
        file = student_file(engine.context.course, submission)
        checks = outcomes(
            attempt(Grading(engine.context), file, engine.exercises["train"])
        )  # the decoder of the file is used, too
    finally:
        engine.close()
        launcher.close()
    # values: words that the returned weights produce.
    # modes: words that the student's parts produce step by step.
    # modes#2: whether the scores of these steps are those that the returned weights give for whole sentences.
    assert {id: checks[f"reverse/{id}"] for id in ("values", "modes", "modes#2")} == {
        "values": "failed",
        "modes": "passed",
        "modes#2": "failed",
    }


def by_grade(grading: BoundedGrading, _course: CourseGrader) -> ExerciseResult:
    task = Task(0, Path("capstone.py"), partial(str.encode, READS_THE_LABELS), ("train",))
    ((_task, graded),) = grading.run([task])
    return graded.results[0]


def by_nbgrader(_grading: BoundedGrading, course: CourseGrader) -> ExerciseResult:
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(READS_THE_LABELS)])
    file, data = Path("capstone.ipynb"), nbformat.writes(book).encode()
    task = Task(0, file, partial(bytes, data), ("train",))
    return course.grade(task, print).exercises[0]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("graded", [by_grade, by_nbgrader])
def test_made_up_words_get_only_a_quarter_of_the_points(cases, graded):
    key = StoreKey("cases", "grader", "strict")
    with BoundedGrading(load_all(cases), RunConfig(cases, None, key), jobs=1) as grading:
        course = CourseGrader(load_all(cases), key, grading, Groups(), PAGE, keep="newest", warnings=[])
        result = graded(grading, course)
    assert (result.outcome, result.score) == ("failed", QUARTER)
    assert outcomes(result)["loop/modes"] == "passed"
    assert outcomes(result)["reverse/values"] == "failed"
    assert "failed" in {outcomes(result)["reverse/modes"], outcomes(result)["reverse/modes#2"]}

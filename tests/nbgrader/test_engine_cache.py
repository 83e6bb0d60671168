"""nbgrader's preprocessors use one grader for all notebooks, and results from a store.

If a notebook stops the grader's process, only that notebook fails.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from helpers.nbgrader_class.school import QKV
from traitlets.config import Config

from grader.authoring.build import build
from grader.authoring.scaffold import scaffold
from grader.classroom import bounded_grading
from grader.classroom.bounded_grading import BoundedGrading
from grader.classroom.grading_process import PLAIN_FILE, RunConfig, Task, TaskResult
from grader.classroom.groups import Groups, Named, write_groups
from grader.classroom.store import Store
from grader.intake.neighbours import among, content_of
from grader.intake.read import Blocked, read_bytes
from grader.nbgrader import engine_cache
from grader.nbgrader.engine_cache import Answer
from grader.nbgrader.notebook_file import bounded, readable
from grader.nbgrader.settings import Headway
from grader.report.model import ExerciseResult

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

WANTED = ["transpose_qkv", "transpose_output"]


@pytest.fixture
def settings(school, monkeypatch) -> Headway:
    recorded = next(folder.parent for folder in (school.root / "cache").glob("headway/hidden/*/complete"))
    monkeypatch.setattr(engine_cache, "hidden_folder", lambda *_asked: recorded)
    seed = school.root / "home" / ".config" / "headway" / "seed"
    chosen = {"solutions": str(school.root / "solutions"), "seed_file": str(seed)}
    return Headway(config=Config(Headway=chosen))


@pytest.fixture
def grader(settings):
    yield engine_cache.course_grader(settings, WANTED)
    engine_cache.close()


def test_one_grader_serves_all_notebooks(settings, grader):
    assert engine_cache.course_grader(settings, WANTED) is grader


@pytest.mark.slow
@pytest.mark.parametrize("asked", ["second_mean", "of_no_assignment"])
def test_only_cases_of_the_asked_assignment_are_recorded(tmp_path, monkeypatch, asked):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    solutions, course = tmp_path / "solutions", tmp_path / "assignments"
    scaffold(solutions, "12_first", "first_mean")
    scaffold(solutions, "13_second", "second_mean")
    build(solutions, course)
    (course / "headway.toml").touch()
    chosen = {"solutions": str(solutions), "course": str(course)}
    made = engine_cache.course_grader(Headway(config=Config(Headway=chosen)), [asked])
    hidden = [bundle.assignment for bundle in made.bundles if bundle.seed == "hidden"]
    assert hidden == (["13_second"] if asked == "second_mean" else [])
    assert set(made.exercises) == {"first_mean", "second_mean"}
    engine_cache.close()


@pytest.mark.slow
def test_a_new_file_in_the_current_folder_starts_no_new_grader(settings, tmp_path, monkeypatch):
    monkeypatch.delenv("HEADWAY_SEED_FILE", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    settings.seed_file = ""
    before = engine_cache._made_from(settings)
    (tmp_path / "gradebook.db-journal").touch()
    assert engine_cache._made_from(settings) == before
    (tmp_path / "config/headway/seed").write_text("another seed\n")
    assert engine_cache._made_from(settings) != before


def answer(source: str = QKV) -> Answer:
    """Return a notebook with one code cell."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    data = nbformat.writes(book).encode()
    return Answer("04_heads.ipynb", data, content_of(Path("04_heads.ipynb"), data, among({})))


def stored(path: Path, grader) -> Path:
    """Make a store with a result that no grader would compute."""
    result = ExerciseResult("transpose_qkv", "04_heads", "failed", 2.25, 3.0, content=answer().content)
    with closing(Store(path, grader.key)) as store:
        store.put([result])
    return path


@pytest.mark.slow
def test_answers_come_from_the_store_first(grader, tmp_path):
    path = stored(tmp_path / "grades.sqlite", grader)
    report = grader.grade(answer(), ["transpose_qkv", "transpose_output"], path, print)
    assert [(r.name, r.score) for r in report.exercises] == [
        ("transpose_qkv", 2.25),
        ("transpose_output", 0.0),
    ]
    assert report.seed == "hidden"
    path.write_bytes(b"not a database, and longer than its header would have to be" * 4)
    assert grader.grade(answer(), ["transpose_qkv"], path, print).exercises[0].outcome == "passed"


@pytest.mark.slow
def test_stored_results_need_no_process_and_damaged_rows_do(grader, tmp_path):
    path = stored(tmp_path / "grades.sqlite", grader)
    assert grader.grade(answer(), ["transpose_qkv"], path, print).exercises[0].score == 2.25
    assert not grader.grading._pool._children
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE results SET result = '{'")
    assert grader.grade(answer(), ["transpose_qkv"], path, print).exercises[0].outcome == "passed"
    assert grader.grading._pool._children


@pytest.mark.slow
def test_the_instructor_is_warned_once_of_a_stale_group(settings, tmp_path):
    adopted = Named("too-small", "every value is too small", "By what do you multiply?", cases="0" * 64)
    group = f"transpose_qkv:{'0' * 16}"
    bank = write_groups(Path(settings.solutions).parent, Groups({group: adopted}))
    warnings: list[str] = []
    try:
        grader = engine_cache.course_grader(settings, WANTED)
        path = stored(tmp_path / "grades.sqlite", grader)
        for _submission in range(2):
            grader.grade(answer(), ["transpose_qkv"], path, warnings.append)
    finally:
        bank.unlink()
        engine_cache.close()
    assert [warning.partition(",")[0] for warning in warnings] == [f"{group} was adopted as too-small"]


@contextmanager
def pretending(allow: Callable[[float], None], config: RunConfig) -> Iterator[Callable[[Task], TaskResult]]:
    """Replace `grading`: hang or exit if the content of a notebook says so, otherwise pass its first exercise.

    allow: called with the seconds after which the pool may kill this process.
    With the setting `warm="broken"`, PLAIN_FILE, which is graded after such a failure, makes the process exit too.
    """

    def work(task: Task) -> TaskResult:
        if b"hang" in task.read():
            allow(0.5)
            time.sleep(600)
        exits_on_plain = config.warm == "broken" and task.read() == PLAIN_FILE
        if b"exit" in task.read() or exits_on_plain:
            os._exit(1)
        return TaskResult((ExerciseResult(task.expected[0], "04_heads", "passed", 3.0, 3.0),))

    yield work


@pytest.mark.slow
@pytest.mark.parametrize(("source", "why"), [("hang", "time limits"), ("exit", "exited 2 times")])
def test_only_the_notebook_that_stops_the_process_fails(grader, tmp_path, monkeypatch, source, why):
    monkeypatch.setattr(bounded_grading, "grading", pretending)
    config = RunConfig(tmp_path, None, grader.key)
    with BoundedGrading(grader.bundles, config, 1) as grading:
        pretended = replace(grader, grading=grading)
        remarks: list[str] = []
        report = pretended.grade(answer(source), ["transpose_qkv"], tmp_path / "none", remarks.append)
        assert [(r.outcome, r.score) for r in report.exercises] == [("failed", 0.0)]
        assert why in remarks[0]
        other = pretended.grade(answer(), ["transpose_qkv"], tmp_path / "none", print)
        assert [(r.outcome, r.score) for r in other.exercises] == [("passed", 3.0)]


@pytest.mark.slow
def test_no_points_are_lost_if_a_plain_file_stops_the_process(grader, tmp_path, monkeypatch):
    monkeypatch.setattr(bounded_grading, "grading", pretending)
    with BoundedGrading(grader.bundles, RunConfig(tmp_path, None, grader.key, warm="broken"), 1) as grading:
        report = replace(grader, grading=grading).grade(answer("exit"), ["transpose_qkv"], tmp_path, print)
    assert [(r.outcome, r.score) for r in report.exercises] == [("could_not_grade", None)]


def take_memory(_path: Path) -> int:
    return len(bytearray(4 << 30))


@pytest.mark.slow
def test_a_notebook_is_read_with_a_memory_limit(tmp_path):
    with pytest.raises(Blocked, match="memory"):
        bounded(take_memory, tmp_path / "a.ipynb")


def test_a_notebook_of_gigabytes_is_refused_by_its_size(tmp_path):
    with (tmp_path / "a.ipynb").open("wb") as file:
        file.truncate(1 << 40)  # a sparse file
    with pytest.raises(Blocked, match="larger than 8 MiB"):
        readable(tmp_path / "a.ipynb", read_bytes(tmp_path / "a.ipynb"))


@pytest.mark.slow
def test_a_new_grader_is_made_when_sources_or_settings_change(school, settings, grader):
    os.utime(school.root / "solutions" / "04_heads" / "exercise.toml", (1, 1))
    changed = engine_cache.course_grader(settings, WANTED)
    assert changed is not grader
    settings.trusted_submissions = True
    assert engine_cache.course_grader(settings, WANTED) is not changed


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"sandbox": "basic"}, "trusted_submissions"),
        ({"solutions": "/nowhere"}, "c.Headway.solutions names /nowhere"),
    ],
)
def test_refusals_of_settings_name_the_setting(settings, wrong, says):
    for name, value in wrong.items():
        setattr(settings, name, value)
    with pytest.raises(engine_cache.Refused, match=says):
        engine_cache.course_grader(settings, WANTED)

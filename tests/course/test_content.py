"""The course's files are correct: manifests, hints, points, known mistakes, and the generated files."""

import ast
import re
import shutil

import pytest
from helpers.command_line import ROOT

from grader import given
from grader.authoring.build import stale
from grader.authoring.content import read, read_all
from grader.engine.load_request import with_requirements
from grader.support.code import definition_span, stub
from grader.support.errors import UsageError

ASSIGNMENTS = read_all(ROOT / "solutions")
EXERCISES = [(a, e) for a in ASSIGNMENTS for e in a.exercises]
IDS = [e.name for _a, e in EXERCISES]
each_assignment = pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=[a.name for a in ASSIGNMENTS])


@pytest.mark.slow
def test_assignments_are_what_solutions_give():
    assert list(stale(ROOT / "solutions", ROOT / "assignments")) == []


def test_a_limit_that_hides_the_line_of_an_endless_loop_is_refused(tmp_path):
    folder = shutil.copytree(ROOT / "solutions/02_masking", tmp_path / "02_masking")
    text = (folder / "exercise.toml").read_text("utf-8")
    changed = text.replace("points =", "limits = { wall_seconds = 30.0 }\npoints =", 1)
    assert changed != text
    (folder / "exercise.toml").write_text(changed, "utf-8")
    with pytest.raises(
        UsageError, match=r"cpu_seconds = 30 and wall_seconds = 30: .*take cpu_seconds = 55 or"
    ):
        read(folder)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("points = ", 'points = "3" # ', r"Expected `float`, got `str` - at `\$\.exercise\[0\]\.points`"),
        ("points = ", "point = ", r"contains unknown field `point` - at `\$\.exercise\[0\]`"),
        ("points = ", "level = 4\npoints = ", r"Expected `int` <= 3 - at `\$\.exercise\[0\]\.level`"),
        ("summary = ", "summary ", r"\(at line 2, column 9\)"),
    ],
    ids=["another type", "unknown key", "out of range", "no TOML"],
)
def test_a_wrong_value_is_refused_with_the_file_and_its_place(tmp_path, old, new, sentence):
    folder = shutil.copytree(ROOT / "solutions/02_masking", tmp_path / "02_masking")
    text = (folder / "exercise.toml").read_text("utf-8")
    (folder / "exercise.toml").write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(UsageError, match=rf"exercise\.toml: .*{sentence}"):
        read(folder)


def test_every_name_is_unique_over_the_course():
    assert len(set(IDS)) == len(IDS)
    ids = [m.id for a in ASSIGNMENTS for m in (*a.mistakes(), *a.mutants())]
    assert len(set(ids)) == len(ids)


def test_points_over_01_to_09_are_80_and_the_others_are_extra():
    first = [(a.name[:2], e.points) for a, e in EXERCISES if not a.manifest.second]
    sums = {number: sum(points for n, points in first if n == number) for number in ("10", "11")}
    assert sums == {"10": 12, "11": 8}
    assert sum(points for _number, points in first) - sum(sums.values()) == 80


def test_an_assignment_of_the_second_half_has_eight_points_and_the_last_has_twelve():
    second = {a.name: 0.0 for a, _e in EXERCISES if a.manifest.second}
    for assignment, exercise in EXERCISES:
        if assignment.manifest.second:
            second[assignment.name] += exercise.points
    assert second
    assert second.pop(max(second)) == 12.0
    assert set(second.values()) == {8.0}


def test_prerequisites_are_known_and_come_earlier():
    for place, (_assignment, exercise) in enumerate(EXERCISES):
        for need in exercise.needs:
            assert need in IDS[:place], f"{exercise.name} needs {need}"


@pytest.mark.parametrize(("assignment", "exercise"), EXERCISES, ids=IDS)
def test_an_exercise_has_what_it_needs_and_may_not_use_itself(assignment, exercise):
    name = exercise.name
    assert [len(hint.split()) >= 5 for hint in exercise.hints] == [True] * 2
    assert exercise.minutes >= 5
    assert 15 <= len(exercise.built.split()) <= 45
    kinds = [v.kind for v in assignment.variants(name)]
    assert kinds.count("trivial") >= 2
    assert kinds.count("same") >= 3
    assert len(assignment.mistakes(name)) + len(assignment.mutants(name)) >= 3
    # Well above: else the line of an endless loop is not known.
    assert exercise.limits.cpu_seconds >= 1.5 * exercise.limits.wall_seconds + 10
    allowed = with_requirements(assignment.given(exercise))
    assert name not in allowed
    assert set(allowed) <= set(given.BLOCKS)


@each_assignment
def test_a_stub_parses_and_contains_no_long_line_of_the_solution(assignment):
    text = stub(assignment.source)
    ast.parse(text)
    assert "SOLUTION" not in text
    regions = re.findall(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", assignment.source, re.S)
    assert regions
    # The stub has a broken class, which shares lines with the repaired one.
    for name in _repaired(regions):
        start, stop = definition_span(text, name)
        text = text[:start] + text[stop:]
    for region in regions:
        # Comments and texts may be in the stub, too.
        lines = [
            line.strip()
            for line in region.splitlines()
            if len(line.strip()) > 40 and not re.match('#|f?"', line.strip())
        ]
        assert [line for line in lines if line in text] == []


def _repaired(regions):
    """Return the names of the classes with which a solution begins: students repair them."""
    return [match[1] for region in regions if (match := re.match(r"class (\w+)", region))]


@each_assignment
def test_mistakes_ask_a_question_and_lessons_end_with_some(assignment):
    for mistake in assignment.mistakes():
        assert mistake.says == mistake.says.strip()
        assert mistake.asks.endswith("?"), mistake.id
    assert assignment.source.count("# ## Questions") == 1
    assert assignment.source.count("\n# %% [markdown]\n# ## Questions") == 1  # nbgrader finds the cell so

"""`grader course`: the files that it writes, the files that it keeps, and what it refuses."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from helpers.command_line import ROOT
from helpers.files import fill
from helpers.nbgrader_class.school import ASSIGNMENT, BIN, answered
from nbgrader.preprocessors import ClearMarkScheme

from grader.authoring.content import read, read_all
from grader.nbgrader.course import KEPT, LOADS, CourseOptions, lacks_our_config, make, notebook
from grader.support.errors import UsageError

ASSIGNMENTS = read_all(ROOT / "solutions")


@pytest.fixture
def options(tmp_path) -> CourseOptions:
    seed = tmp_path / "seed"
    seed.write_text("x" * 32, "utf-8")
    return CourseOptions("course", ROOT / "solutions", ROOT / "assignments", seed)


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)
def test_every_exercise_has_a_solution_cell_and_a_graded_cell(assignment):
    book = nbformat.reads(notebook(assignment), as_version=4)
    nbformat.validate(book)
    roles = {
        c.metadata.nbgrader.grade_id: (c.metadata.nbgrader, c.source)
        for c in book.cells
        if "nbgrader" in c.metadata
    }
    for exercise in assignment.exercises:
        assert roles[exercise.name][0].solution
        assert "### BEGIN SOLUTION" in roles[exercise.name][1]
        graded, source = roles[f"check-{exercise.name}"]
        assert (graded.grade, graded.locked, graded.points) == (True, True, exercise.points)
        assert source == f'check("{exercise.name}")'
    assert roles["questions-1"][0].task
    assert len({c.id for c in book.cells}) == len(book.cells)


def test_graders_get_the_answers_with_questions_that_count_and_students_do_not(options):
    (heads,) = HEADS
    (cell,) = [c for c in nbformat.reads(notebook(heads, 6.0), 4).cells if "BEGIN MARK SCHEME" in c.source]
    assert cell.metadata.nbgrader.points == 6
    assert all(f"**Question {n}, up to 2 points.** " in cell.source for n in (1, 2, 3))
    assert "Often said: H heads cost H times" in cell.source
    ClearMarkScheme().preprocess_cell(cell, {}, 0)  # as for the release
    assert cell.source.rstrip().endswith("how does the memory for the attention weights grow?")
    assert "Often said" not in notebook(heads)


HEADS = [read(ROOT / "solutions" / "04_heads")]


def test_a_second_call_keeps_a_copy_of_changed_notebooks(tmp_path, options):
    folder = tmp_path / "course"
    # two files of configuration, and the notebook, two files of the bundle, headway.toml and a picture
    assert len(make(folder, HEADS, options)) == 7
    assert make(folder, HEADS, options) == []
    book = folder / "source" / "04_heads" / "04_heads.ipynb"
    book.write_text(book.read_text("utf-8") + " ", "utf-8")
    assert make(folder, HEADS, options) == [book]
    assert len(list((folder / KEPT).iterdir())) == 1
    pictures = {name for name in book.parent.rglob("*.*") if name.parent != book.parent}
    assert {f"pictures/{p.name}": p.read_bytes() for p in pictures} == HEADS[0].pictures
    assert all(f"]({name})" in book.read_text("utf-8") for name in HEADS[0].pictures)


def test_the_pages_beside_a_lesson_come_along(tmp_path, options):
    pooling = read(ROOT / "solutions" / "01_attention_pooling")
    make(tmp_path / "course", [pooling], options)
    place = tmp_path / "course" / "source" / pooling.name
    assert {path.name: path.read_bytes() for path in place.glob("*.md")} == pooling.pages
    assert pooling.pages


def test_the_instructors_own_configuration_is_never_written_over(tmp_path, options):
    folder = tmp_path / "course"
    folder.mkdir()
    own = folder / "nbgrader_config.py"
    own.write_text("c = get_config()\n", "utf-8")
    make(folder, [], options)
    assert own.read_text("utf-8") == "c = get_config()\n"
    assert lacks_our_config(folder)
    own.write_text(LOADS, "utf-8")
    assert not lacks_our_config(folder)


def test_grades_and_submissions_are_never_touched(tmp_path, options):
    mine = {"gradebook.db": "grades", "submitted/ada/04_heads/04_heads.ipynb": "{}"}
    folder = fill(tmp_path / "course", mine)
    make(folder, HEADS, options)
    assert {name: (folder / name).read_text("utf-8") for name in mine} == mine


def test_a_seed_within_the_course_and_missing_public_cases_are_refused(tmp_path, options):
    with pytest.raises(UsageError, match="secret seed"):
        make(tmp_path, [], options)
    with pytest.raises(UsageError, match="grader build"):
        make(tmp_path / "course", HEADS, replace(options, assignments=tmp_path))


def test_a_solution_outside_an_exercise_is_refused(tmp_path):
    folder = Path(shutil.copytree(ROOT / "solutions" / "04_heads", tmp_path / "04_heads"))
    module = folder / "heads.py"
    module.write_text(module.read_text("utf-8").replace('# %% exercise="transpose_qkv"', "# %%"), "utf-8")
    with pytest.raises(UsageError, match="no exercise"):
        notebook(read(folder))


@pytest.mark.slow
def test_the_released_folder_alone_is_enough_to_check(made, tmp_path):
    folder = shutil.copytree(made.course / "release" / ASSIGNMENT, tmp_path / "mine")
    book = answered(made.released(), output="def transpose_output(X, num_heads):\n    return X\n")
    (folder / f"{ASSIGNMENT}.ipynb").write_text(json.dumps(book), "utf-8")
    said = made.run(BIN / "grader", "check", cwd=folder, status=1)
    assert "transpose_qkv" in said
    assert "passed" in said
    assert "failed" in said
    assert f"in {ASSIGNMENT}.ipynb." in made.run(BIN / "grader", "--plain", cwd=folder)
    assert (folder / ".headway").is_dir()

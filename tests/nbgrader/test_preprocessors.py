"""Tests without a gradebook: our configuration of nbgrader, functions of the preprocessors, reading of notebooks."""

import json
from pathlib import Path

import nbformat
import pytest
from nbgrader.converters import Autograde, GenerateAssignment
from traitlets.config import Config

from grader.classroom.purge import content_of
from grader.intake.read import read_submission
from grader.nbgrader.course import CourseOptions, our_config
from grader.nbgrader.notebook_file import readable
from grader.nbgrader.preprocessors import _part, exercise_of, outputs
from grader.report.model import ExerciseResult, Report

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def names(classes: list[object]) -> list[str]:
    return [c if isinstance(c, str) else c.__name__ for c in classes]


@pytest.fixture
def config(tmp_path) -> Config:
    """Return our configuration file as nbgrader reads it."""
    c = Config()
    text = our_config(CourseOptions("x", tmp_path, tmp_path, tmp_path / "seed"))
    exec(text, {"get_config": lambda: c})
    return c


def test_our_lists_of_preprocessors_match_those_of_nbgrader(config):
    ours = config.Autograde.autograde_preprocessors
    # Our preprocessor → the one of nbgrader that it replaces.
    replaced = {"Grade": "Execute", "SaveGrades": "SaveAutoGrades", "Stub": "ClearSolutions"}

    def stock(paths: list[str]) -> list[str]:
        """Return the preprocessors by nbgrader's names, without the one that we add."""
        short = [path.rsplit(".", 1)[1] for path in paths]
        return [replaced.get(name, name) for name in short if name != "RepairCells"]

    plain = Autograde()
    assert stock(ours) == names(plain.autograde_preprocessors)
    assert stock(config.Autograde.sanitize_preprocessors) == names(plain.sanitize_preprocessors)
    assert stock(config.GenerateAssignment.preprocessors) == names(GenerateAssignment().preprocessors)


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ('check("masked_softmax")', "masked_softmax"),
        ('from grader import check\ncheck("a")', "a"),
        ("%matplotlib inline\ncheck('a')", "a"),
        ("assert f(1) == 2", None),
        ("check(", None),
        ("check(name)", None),
        ("", None),
    ],
)
def test_a_graded_cell_names_its_exercise_in_a_call_of_check(source, name):
    assert exercise_of(source) == name


def test_a_script_becomes_a_notebook_with_the_cells_of_its_exercises():
    text = '# %% [markdown]\n# # Heads\n\n# %% exercise="a"\ndef a(): ...\n\n# %%\nx = 1\n'
    book, _remarks = readable(Path("heads.py"), text.encode())
    nbformat.validate(book)
    assert [(c.cell_type, c.source) for c in book.cells] == [
        ("markdown", "# Heads"),
        ("code", "def a(): ..."),
        ("code", "x = 1"),
    ]
    assert [c.metadata.get("nbgrader", {}).get("grade_id") for c in book.cells] == [None, "a", None]


def test_a_notebook_has_the_same_hash_as_in_grader_grade(tmp_path):
    cells = [
        nbformat.v4.new_markdown_cell("x"),
        nbformat.v4.new_code_cell("%%time\ndef f():\n    pass"),
        nbformat.v4.new_code_cell("!ls"),
        nbformat.v4.new_code_cell("def g(:\n    pass"),
    ]
    book = nbformat.v4.new_notebook(cells=cells)
    path = tmp_path / "04_heads.ipynb"
    nbformat.write(book, path)
    assert content_of(path, path.read_bytes, {}) == read_submission(path).content


@pytest.mark.parametrize(
    ("score", "of_cell", "expected"),
    [
        (1.5, 10.0, "5.0"),
        (2.3, 3.0, "2.3"),
        (0.3, 10.5, "1.1"),  # 1.05, rounded half up
        (3.0, 10.0, "10.0"),
        (9.0, 10.0, "10.0"),
        (-1.0, 10.0, "0.0"),
        (float("nan"), 10.0, "0.0"),
    ],
)
def test_a_score_is_a_plain_float_within_the_points_of_its_cell(score, of_cell, expected):
    result = ExerciseResult("a", "01_a", "failed", score, 3.0)
    shown = outputs(_part(Report((result,), "strict", "2", "0"), "a", "check-a", of_cell))
    assert [o["output_type"] for o in shown] == ["display_data", "execute_result"]
    assert shown[1]["data"]["text/plain"] == expected


def test_a_graded_cell_without_an_exercise_needs_a_person():
    part = _part(Report((), "strict", "2", "0"), None, "mine", 2.0)
    assert part.exercises[0].score is None
    assert "a person has to grade it" in part.exercises[0].message
    assert [o["output_type"] for o in outputs(part)] == ["display_data"]


@pytest.mark.parametrize(
    "cell",
    [
        {"cell_type": "code", "source": ["x = 1\n", "y"]},
        {"cell_type": "code", "source": "x", "metadata": []},
        {"cell_type": "strange", "source": 3, "metadata": {"nbgrader": {"grade_id": "a"}}},
        {"source": None},
        {},
    ],
)
def test_a_notebook_that_breaks_its_format_is_rebuilt(cell):
    text = json.dumps({"cells": [cell, 7], "nbformat": 4, "nbformat_minor": 5, "metadata": {}})
    book, _remarks = readable(Path("a.ipynb"), text.encode())
    nbformat.validate(book)
    assert len(book.cells) == 1


def test_metadata_that_nbconvert_cannot_copy_is_left_out():
    deep = '{"a": ' * 400 + "{}" + "}" * 400
    text = '{"cells": [], "nbformat": 4, "nbformat_minor": 5, "metadata": ' + deep + "}"
    book, _remarks = readable(Path("a.ipynb"), text.encode())
    assert book.metadata == {}

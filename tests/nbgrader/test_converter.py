"""In one process: whatever format a notebook has, nbgrader refuses none and ends no run.

The course names a seed that does not exist, so that each notebook goes through every step except the grading.
"""

import contextlib
import json
import os
from itertools import product
from pathlib import Path

import nbformat
import pytest
from helpers.command_line import ROOT
from helpers.nbgrader_class.school import ASSIGNMENT, BIN, Book, answered, cell
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde, GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from nbgrader.nbgraderformat import SchemaTooOldError
from nbgrader.preprocessors import CheckCellMetadata, LimitOutput
from traitlets.config import Config

from grader.authoring.content import read_all
from grader.nbgrader import engine_cache, notebook_file
from grader.nbgrader.course import CourseOptions, make, our_config

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

NAME = f"{ASSIGNMENT}.ipynb"
MARKED = ("transpose_qkv", "check-transpose_qkv", "headway", "questions-1")
KINDS = {"code": "markdown", "markdown": "raw"}


# What students do to cells that nbgrader marked: (all cells, those cells) → the cells of the notebook.
CHANGES = {
    "unchanged": lambda cells, marked: cells,
    "deleted": lambda cells, marked: [one for one in cells if one not in marked],
    "doubled": lambda cells, marked: [*marked, *cells],
    "retyped": lambda cells, marked: [
        one | {"cell_type": KINDS[one["cell_type"]]} if one in marked else one for one in cells
    ],
    "moved": lambda cells, marked: [*(one for one in cells if one not in marked), *marked[::-1]],
}


def version(book: Book, minor: int, bare: bool, change: str) -> Book:
    """Return a notebook as another editor saves it: without ids below minor 5, and perhaps without nbgrader's marks."""
    marked = [cell(book, name) for name in MARKED]
    cells = [json.loads(json.dumps(one)) for one in CHANGES[change](book["cells"], marked)]
    for number, one in enumerate(cells):
        one.pop("id", None)
        if minor >= 5:
            one["id"] = f"x{number}"
        if bare:
            one["metadata"] = {"id": f"colab{number}"}
        if one["cell_type"] != "code":
            one.pop("outputs", None)
            one.pop("execution_count", None)
    return book | {"nbformat_minor": minor, "cells": cells}


@pytest.fixture(scope="module")
def converter(tmp_path_factory) -> Autograde:
    root = tmp_path_factory.mktemp("converter")
    chosen = [a for a in read_all(ROOT / "solutions") if a.name == ASSIGNMENT]
    options = CourseOptions("x", ROOT / "solutions", ROOT / "assignments", root / "no-seed")
    make(root / "course", chosen, options)
    config = Config()
    exec(our_config(options), {"get_config": lambda: config})
    config.CourseDirectory.root = str(root / "course")
    course = CourseDirectory(config=config, assignment_id=ASSIGNMENT)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PATH", str(BIN), prepend=os.pathsep)  # nbgrader calls alembic
        GenerateAssignment(coursedir=course, config=config).start()
    return Autograde(coursedir=course, config=config)


def hand_in(converter: Autograde, books: dict[str, Book]) -> Path:
    """Submit and autograde notebooks; return the folder of the course."""
    course = Path(converter.coursedir.root)
    for student, book in books.items():
        path = course / "submitted" / student / ASSIGNMENT / NAME
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(book), "utf-8")
    with contextlib.closing(engine_cache), contextlib.closing(notebook_file._reader):
        converter.start()
    return course


def released(converter: Autograde) -> Book:
    return json.loads((Path(converter.coursedir.root) / "release" / ASSIGNMENT / NAME).read_text("utf-8"))


def problem_of(converter: Autograde, student: str) -> str:
    """Return what is wrong with an autograded notebook or its marks; "" if nothing is."""
    try:
        path = Path(converter.coursedir.root, "autograded", student, ASSIGNMENT, NAME)
        book = nbformat.read(path, as_version=4)
        nbformat.validate(book)
        assert (book.nbformat, book.nbformat_minor) == (4, 5)
        with Gradebook(converter.coursedir.db_url) as gradebook:
            notebook = gradebook.find_notebook(ASSIGNMENT, ASSIGNMENT)
            wanted = {one.name for one in notebook.source_cells} - {"headway"}
            found = [c.metadata.nbgrader.grade_id for c in book.cells if "nbgrader" in c.metadata]
            assert wanted <= set(found)
            assert len(set(found)) == len(found)
            (graded,) = gradebook.find_submission(ASSIGNMENT, student).notebooks
            needs = {grade.name for grade in graded.grades if grade.needs_manual_grade}
            assert needs >= {"check-transpose_qkv", "check-transpose_output"}
            comments = {one.name: one.auto_comment or "" for one in graded.comments}
            assert "which does not exist" in comments["transpose_qkv"]
    except Exception as error:
        return f"{student}: {type(error).__name__}: {error}"
    return ""


def test_no_format_and_no_changed_cell_is_refused(converter):
    book = answered(released(converter))
    books = {
        f"{minor}-{'bare' if bare else 'marked'}-{change}": version(book, minor, bare, change)
        for minor, bare, change in product(range(6), (False, True), CHANGES)
    }
    hand_in(converter, books)
    assert [problem for student in books if (problem := problem_of(converter, student))] == []


@pytest.mark.parametrize("refuses", [CheckCellMetadata, LimitOutput], ids=["first reading", "second"])
def test_a_notebook_that_nbgrader_refuses_ends_no_run(converter, monkeypatch, refuses):
    check = refuses.preprocess

    def refuse(self: CheckCellMetadata, nb: nbformat.NotebookNode, resources: object) -> object:
        if any("refuse me" in cell.source for cell in nb.cells):
            raise SchemaTooOldError("too old", 0, 3)
        return check(self, nb, resources)

    monkeypatch.setattr(refuses, "preprocess", refuse)
    book = answered(released(converter))
    bad = answered(book, "# refuse me")
    names = {f"{name}-{refuses.__name__}": one for name, one in (("a", book), ("b", bad), ("c", book))}
    course = hand_in(converter, names)
    assert [problem for student in names if (problem := problem_of(converter, student))] == []
    shown = (course / "autograded" / f"b-{refuses.__name__}" / ASSIGNMENT / NAME).read_text("utf-8")
    assert "is not shown here, because this error occurred: SchemaTooOldError" in shown

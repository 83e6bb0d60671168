"""All readings of one class in one process: whatever format a notebook has, nbgrader refuses none and ends no run.

The course names a seed that does not exist, so that each notebook goes through every step except the grading.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import nbformat
import pytest
from helpers.nbgrader_class.school import ASSIGNMENT, BIN, ROOT, Book, answered, cell
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde, GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from grader.authoring.content import read_all
from grader.nbgrader import engine_cache, read_notebook
from grader.nbgrader.course import CourseOptions, make, our_config

pytestmark = pytest.mark.filterwarnings("ignore")  # of nbgrader and SQLAlchemy

NAME = f"{ASSIGNMENT}.ipynb"
MARKED = ("transpose_qkv", "check-transpose_qkv", "headway", "questions-1")


def deleted(book: Book, cells: list[Book]) -> None:
    book["cells"] = [one for one in book["cells"] if one not in cells]


def doubled(book: Book, cells: list[Book]) -> None:
    book["cells"] = [*json.loads(json.dumps(cells)), *book["cells"]]


def retyped(book: Book, cells: list[Book]) -> None:
    for one in cells:
        one["cell_type"] = "markdown" if one["cell_type"] == "code" else "raw"
        one.pop("outputs", None)
        one.pop("execution_count", None)


def moved(book: Book, cells: list[Book]) -> None:
    deleted(book, cells)
    book["cells"] += reversed(cells)


def unchanged(book: Book, cells: list[Book]) -> None:
    pass


CHANGES = (unchanged, deleted, doubled, retyped, moved)


def in_format(book: Book, minor: int, marked: bool) -> Book:
    """Return a notebook as another editor saves it: without ids below minor 5, and perhaps without nbgrader's marks."""
    book = {**json.loads(json.dumps(book)), "nbformat_minor": minor}
    for number, one in enumerate(book["cells"]):
        one.pop("id", None)
        if minor >= 5:
            one["id"] = f"x{number}"
        if not marked:
            one["metadata"] = {"id": f"colab{number}"}
    return book


def versions(released: Book) -> Iterator[tuple[str, Book]]:
    """Yield a student and the submitted notebook, for every combination."""
    book = answered(released)
    places = [book["cells"].index(cell(book, name)) for name in MARKED]
    for minor, marked, change in product(range(6), (True, False), CHANGES):
        version = in_format(book, minor, marked)
        change(version, [version["cells"][place] for place in places])
        yield f"{minor}-{'marked' if marked else 'bare'}-{change.__name__}", version


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


def test_no_format_and_no_changed_cell_is_refused(converter):
    course = Path(converter.coursedir.root)
    released = json.loads((course / "release" / ASSIGNMENT / NAME).read_text("utf-8"))
    students = dict(versions(released))
    for student, book in students.items():
        path = course / "submitted" / student / ASSIGNMENT / NAME
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(book), "utf-8")
    with contextlib.closing(engine_cache), contextlib.closing(read_notebook._reader):
        converter.start()
    with Gradebook(converter.coursedir.db_url) as gradebook:
        roles = {one.name for one in gradebook.find_notebook(ASSIGNMENT, ASSIGNMENT).source_cells} - {
            "headway"
        }
        wrong = []
        for student in students:
            path = course / "autograded" / student / ASSIGNMENT / NAME
            try:
                book = nbformat.read(path, as_version=4)
                nbformat.validate(book)
                assert (book.nbformat, book.nbformat_minor) == (4, 5)
                found = [c.metadata.nbgrader.grade_id for c in book.cells if "nbgrader" in c.metadata]
                assert roles <= set(found) and len(set(found)) == len(found)
                (graded,) = gradebook.find_submission(ASSIGNMENT, student).notebooks
                needs = {grade.name for grade in graded.grades if grade.needs_manual_grade}
                assert needs >= {"check-transpose_qkv", "check-transpose_output"}
                assert all(
                    comment.auto_comment for comment in graded.comments if comment.name.startswith("trans")
                )
            except Exception as error:
                wrong.append(f"{student}: {type(error).__name__}: {error}")
    assert not wrong, "\n".join(wrong)

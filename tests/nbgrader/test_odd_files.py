"""Malformed and hostile files in the real `nbgrader autograde`: no submission is discarded."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator

import pytest
from helpers.hostile_class import COSTLY, INSIDE, costly, plant_stores
from helpers.nbgrader_class.school import ASSIGNMENT, QKV, Book, School, answered, cell, new_cell
from helpers.nbgrader_class.walks import Nbgrader, marks

from grader.bundle.files import MANIFEST_FILE

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.skipif(sys.platform != "linux", reason="makes links and pipes"),
]

HALF = "\ud800"  # a lone surrogate: JSON can express it, UTF-8 cannot
FULL = 3.0

# Each of these functions makes one part of a notebook malformed.


def markdown(book: Book) -> None:
    book["cells"].append({"cell_type": "markdown", "id": "half", "metadata": {}, "source": f"a {HALF}"})


def outputs(book: Book) -> None:
    cell(book, "transpose_qkv")["outputs"] = [{"output_type": "stream", "name": "stdout", "text": HALF}]


def metadata(book: Book) -> None:
    book["metadata"]["author"] = [{"name": HALF}]


def keys(book: Book) -> None:
    cell(book, "transpose_qkv")["metadata"][f"key {HALF}"] = 1


def tags(book: Book) -> None:
    book["cells"].append({**new_cell("x = 1"), "metadata": {"tags": [HALF]}})


def kernel_name(book: Book) -> None:
    book["metadata"]["kernelspec"] = {"name": HALF, "display_name": HALF, "language": HALF}


def source(book: Book) -> None:
    cell(book, "transpose_qkv")["source"] = QKV + f"# {HALF}\n"


def grade_id(book: Book) -> None:
    book["cells"].append({**new_cell("x = 1"), "metadata": {"nbgrader": {"grade_id": HALF}}})


SURROGATES = [markdown, outputs, metadata, keys, tags, kernel_name, source, grade_id]


def deep(book: Book) -> None:
    inner: dict = {}
    for _level in range(400):
        inner = {"a": inner}
    book["metadata"]["deep"] = inner


def marks_that_are_lists(book: Book) -> None:
    """Add a cell whose `grade_id` is a list."""
    book["cells"].append({**new_cell("x = 1"), "metadata": {"nbgrader": {"grade_id": ["a"]}}})


BOOKS = [*SURROGATES, deep, marks_that_are_lists]
HOSTILE = {kind: costly(kind) for kind in COSTLY} | {kind: source for kind, (source, _says) in INSIDE.items()}


@pytest.fixture(scope="module")
def odd(made: School) -> Iterator[tuple[Nbgrader, str]]:
    """Autograde a course in which most submissions are malformed or hostile. Yield the course and the output."""
    nbgrader = Nbgrader(made, "odd")
    nbgrader("generate_assignment", ASSIGNMENT)
    released = json.loads(
        (nbgrader.folder / "release" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").read_text("utf-8")
    )
    submitted = nbgrader.folder / "submitted"
    for change in BOOKS:
        book = answered(released)
        change(book)
        submit(submitted / change.__name__, json.dumps(book))
    for kind, text in HOSTILE.items():
        book = answered(released)
        cell(book, "transpose_qkv")["source"] = text
        submit(submitted / kind, json.dumps(book))
    plant_stores(submitted)  # forged results of `grader grade`, which nbgrader must not read
    for name in ("honest", "beside"):
        submit(submitted / name, json.dumps(answered(released)))
    honest = submitted / "honest" / ASSIGNMENT
    (submitted / "link" / ASSIGNMENT).mkdir(parents=True)
    (submitted / "link" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").symlink_to(honest / f"{ASSIGNMENT}.ipynb")
    (submitted / "folder_link").mkdir()
    (submitted / "folder_link" / ASSIGNMENT).symlink_to(submitted / "beside" / ASSIGNMENT)
    (submitted / "student_link").symlink_to(submitted / "beside")
    beside = submitted / "beside" / ASSIGNMENT
    (beside / "dangling").symlink_to("nowhere")
    (beside / "secret.txt").symlink_to(nbgrader.folder / "headway_config.py")
    os.mkfifo(beside / "pipe")
    (beside / "timestamp.txt").write_text("the day before yesterday", "utf-8")
    (beside / MANIFEST_FILE).mkdir()
    (beside / "notes.txt").write_text("mine", "utf-8")
    yield nbgrader, nbgrader("autograde", ASSIGNMENT)
    nbgrader.close()


def submit(home, text: str) -> None:
    (home / ASSIGNMENT).mkdir(parents=True)
    (home / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").write_text(text, "utf-8")


def test_no_submission_is_discarded(odd):
    nbgrader, output = odd
    assert "Removing failed" not in output
    students = {student for student, _exercise in marks(nbgrader)}
    odd_ones = {change.__name__ for change in BOOKS} | HOSTILE.keys()
    assert students == odd_ones | {"honest", "beside", "link", "folder_link", "student_link"}


@pytest.mark.parametrize("student", HOSTILE)
def test_a_hostile_notebook_gets_no_full_marks_and_no_excuse(odd, student):
    found = marks(odd[0])[student, "transpose_qkv"]
    assert found.auto <= FULL / 2
    assert not found.needs_manual_grade
    assert found.comment


@pytest.mark.parametrize("student", [change.__name__ for change in BOOKS] + ["honest", "beside"])
def test_an_odd_notebook_gets_its_marks(odd, student):
    found = marks(odd[0])
    for exercise in ("transpose_qkv", "transpose_output"):
        assert (found[student, exercise].auto, found[student, exercise].needs_manual_grade) == (FULL, False)


@pytest.mark.parametrize("student", [change.__name__ for change in SURROGATES])
def test_a_replaced_character_is_reported(odd, student):
    nbgrader, output = odd
    remark = f"{student}, {ASSIGNMENT}: The notebook contained characters that are not valid Unicode."
    assert remark in output
    text = (nbgrader.folder / "autograded" / student / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").read_text("utf-8")
    assert "not valid Unicode" in text


@pytest.mark.parametrize(
    ("student", "says"),
    [("link", f"{ASSIGNMENT}.ipynb (a link)"), ("folder_link", "no folder"), ("student_link", "no folder")],
)
def test_a_symbolic_link_is_no_submission(odd, student, says):
    nbgrader, _output = odd
    found = marks(nbgrader)[student, "transpose_qkv"]
    assert (found.auto, found.needs_manual_grade) == (None, True)
    assert says in (found.comment or "")
    copied = nbgrader.folder / "autograded" / student / ASSIGNMENT
    assert not (copied / "notes.txt").exists(), "nbgrader copies no file that a link leads to"


def test_files_that_nbgrader_cannot_copy_are_set_aside(odd):
    nbgrader, output = odd
    aside = nbgrader.folder / ".headway" / "set_aside" / "submitted" / "beside" / ASSIGNMENT
    names = {"dangling", "secret.txt", "pipe", "timestamp.txt", MANIFEST_FILE}
    assert {path.name for path in aside.iterdir()} == names
    assert "timestamp.txt holds no time that nbgrader can read, and was moved to" in output
    assert all(f"{name} cannot be copied and was moved to" in output for name in names - {"timestamp.txt"})
    graded = nbgrader.folder / "autograded" / "beside" / ASSIGNMENT
    assert (graded / "notes.txt").read_text("utf-8") == "mine"
    assert not (graded / "secret.txt").exists()

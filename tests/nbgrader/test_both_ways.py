"""One class graded by `nbgrader autograde` and by `grader grade`: each student gets the same points."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from helpers.nbgrader_class.school import (
    ASSIGNMENT,
    BIN,
    QKV,
    Book,
    School,
    answered,
    cell,
    new_cell,
    tampered,
)
from helpers.nbgrader_class.walks import Mark, Nbgrader, marks

pytestmark = [pytest.mark.filterwarnings("ignore::DeprecationWarning"), pytest.mark.timeout(900)]

EXERCISES = ("transpose_qkv", "transpose_output")
REAL = f"{ASSIGNMENT}.ipynb"
Files = dict[str, Book | bytes]


def qkv(*body: str) -> str:
    return "def transpose_qkv(X, num_heads):\n" + "".join(f"    {line}\n" for line in body)


def with_cell(book: Book, source: str) -> Book:
    return {**book, "cells": [*book["cells"], new_cell(source)]}


def without_check(book: Book) -> Book:
    book = answered(book)
    book["cells"].remove(cell(book, "check-transpose_qkv"))
    return book


def in_reverse(book: Book) -> Book:
    """Reverse the order of the cells of a right answer."""
    book = answered(book)
    return {**book, "cells": [*reversed(book["cells"])]}


CLASS: dict[str, Callable[[Book], Files]] = {
    "right": lambda book: {REAL: answered(book)},
    "untouched": lambda book: {REAL: book},
    "renamed": lambda book: {"heads_nora_final(2).ipynb": answered(book)},
    "renamed_beside_notes": lambda book: {
        "mine.ipynb": answered(book),
        "notes.ipynb": with_cell(book, "x = 1"),
    },
    "copy_beside": lambda book: {REAL: answered(book), f"{ASSIGNMENT}-Copy1.ipynb": book},
    "known_mistake": lambda book: {REAL: answered(book, QKV.replace(".transpose(1, 2)", ""))},
    "first_unwritten": lambda book: {REAL: answered(book, cell(book, "transpose_qkv")["source"])},
    "printed": lambda book: {REAL: answered(book, qkv("print(X)"))},
    "syntax_error": lambda book: {REAL: answered(book, "def transpose_qkv(:\n")},
    "exits": lambda book: {REAL: answered(book, qkv("import sys", "sys.exit(0)"))},
    "loops": lambda book: {REAL: answered(book, qkv("while True:", "    pass"))},
    "asks": lambda book: {REAL: answered(book, qkv("return input('shape? ')"))},
    "defined_twice": lambda book: {REAL: with_cell(answered(book), qkv("return X"))},
    "crash_between": lambda book: {REAL: with_cell(answered(book), "1 / 0")},
    "out_of_order": lambda book: {REAL: in_reverse(book)},
    "tampered": lambda book: {REAL: tampered(book)},
    "check_deleted": lambda book: {REAL: without_check(book)},
    "own_module": lambda book: {
        REAL: answered(book, "from pieces import split\n" + qkv("return split(X, num_heads)")),
        "pieces.py": QKV.replace("transpose_qkv", "split").encode(),
    },
    "missing_module": lambda book: {
        REAL: answered(book, "from pieces import split\n" + qkv("return split(X, num_heads)")),
    },
    "half_json": lambda book: {REAL: json.dumps(book)[:500].encode()},
    "empty": lambda book: {REAL: b""},
    "pdf": lambda book: {REAL: b"%PDF-1.7\n\xff\xfe"},
}


@dataclass
class Graded:
    """The results of both ways."""

    nbgrader: dict[tuple[str, str], Mark]
    log: str  # of `nbgrader autograde`
    records: dict[str, dict]  # student → record of `grader grade`


@pytest.fixture(scope="module")
def graded(made: School) -> Iterator[Graded]:
    nbgrader = Nbgrader(made, "both")
    nbgrader("generate_assignment", ASSIGNMENT)
    book = json.loads((nbgrader.folder / "release" / ASSIGNMENT / REAL).read_text("utf-8"))
    for student, files in {**CLASS, "two_answers": two_answers}.items():
        place = nbgrader.folder / "submitted" / student / ASSIGNMENT
        place.mkdir(parents=True)
        for name, content in files(json.loads(json.dumps(book))).items():  # each student gets a copy
            (place / name).write_bytes(
                content if isinstance(content, bytes) else json.dumps(content).encode()
            )
    log = nbgrader("autograde", ASSIGNMENT)
    # Use a separate store, so that `grader grade` uses no result of nbgrader.
    command = (BIN / "grader", "grade", "both/submitted", "--store", made.root / "own-store")
    lines = made.run(*command, "--format", "jsonl", cwd=made.root, status=1)
    records = [json.loads(line) for line in lines.splitlines() if line.startswith("{")]
    yield Graded(marks(nbgrader), log, {record["student"]: record for record in records})
    nbgrader.close()


def two_answers(book: Book) -> Files:
    """Submit two answers. They get no points without a person, so they are not in CLASS."""
    return {"a.ipynb": answered(book), "b.ipynb": answered(book, qkv("return X"))}


@pytest.mark.parametrize("student", CLASS)
def test_both_ways_give_the_same_marks(graded, student):
    scores = {e["name"]: e["score"] for e in graded.records[student]["exercises"]}
    assert scores.keys() == set(EXERCISES)
    for exercise in EXERCISES:
        mark = graded.nbgrader[student, exercise]
        assert (mark.auto, mark.needs_manual_grade) == (scores[exercise], False), mark.comment


@pytest.mark.parametrize(
    "student", ["right", "renamed", "renamed_beside_notes", "copy_beside", "crash_between", "own_module"]
)
def test_right_answers_get_full_marks_despite_other_cells_and_files(graded, student):
    assert [graded.nbgrader[student, exercise].auto for exercise in EXERCISES] == [3.0, 3.0]


def test_a_module_that_was_not_submitted_costs_the_points(graded):
    (result,) = (e for e in graded.records["missing_module"]["exercises"] if e["name"] == "transpose_qkv")
    message = "`split` comes from `pieces`, which was not submitted: put pieces.py beside this file"
    assert (result["outcome"], result["score"], result["message"]) == ("blocked", 0, message)


def test_a_renamed_notebook_is_reported_in_the_log(graded):
    assert f"renamed, {ASSIGNMENT}: heads_nora_final(2).ipynb was graded as {REAL}" in graded.log
    remark = f"copy_beside, {ASSIGNMENT}: also in the folder, not graded: {ASSIGNMENT}-Copy1.ipynb"
    assert remark in graded.log
    assert "also in the folder" in str(graded.records["copy_beside"]["remarks"])


def test_of_two_answers_none_is_graded_without_a_person(graded):
    for exercise in EXERCISES:
        mark = graded.nbgrader["two_answers", exercise]
        assert (mark.auto, mark.needs_manual_grade) == (None, True)
    assert "cannot choose between a.ipynb, b.ipynb" in graded.log

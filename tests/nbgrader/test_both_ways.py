"""One class graded by `nbgrader autograde` and by `grader grade`: each student gets the same points."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from helpers.nbgrader_class.school import (
    ASSIGNMENT,
    BIN,
    OUTPUT,
    QKV,
    Book,
    School,
    answered,
    cell,
    new_cell,
    tampered,
)
from helpers.nbgrader_class.walks import Mark, Nbgrader, marks

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.timeout(900),
]

EXERCISES = ("transpose_qkv", "transpose_output")
REAL = f"{ASSIGNMENT}.ipynb"
Files = dict[str, Book | bytes]


def qkv(*body: str) -> str:
    return "def transpose_qkv(X, num_heads):\n" + "".join(f"    {line}\n" for line in body)


def with_cell(book: Book, source: str) -> Book:
    return {**book, "cells": [*book["cells"], new_cell(source)]}


def without_check(book: Book) -> Book:
    book["cells"].remove(cell(book, "check-transpose_qkv"))
    return book


def in_reverse(book: Book) -> Book:
    """Reverse the order of the cells."""
    return {**book, "cells": [*reversed(book["cells"])]}


def in_format(book: Book, minor: int, *, marked: bool = True) -> Book:
    """Return a notebook as VS Code (minor 2) or Colab (minor 0) saves it."""
    book = {**answered(book), "nbformat_minor": minor}
    for one in book["cells"]:
        one.pop("id", None)
        one["metadata"] = one["metadata"] if marked else {"id": "colab"}
    return book


def retyped(book: Book) -> Book:
    changed = cell(book, "transpose_qkv")
    changed.update(cell_type="markdown")
    del changed["outputs"], changed["execution_count"]
    return book


def zipped(**files: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, text in files.items():
            archive.writestr(f"{name}.py", text)
    return made.getvalue()


SCRIPT = (QKV + OUTPUT).encode()

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
    "out_of_order": lambda book: {REAL: in_reverse(answered(book))},
    "tampered": lambda book: {REAL: tampered(book)},
    "check_deleted": lambda book: {REAL: without_check(answered(book))},
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
    # files and folders in which nbgrader alone finds no notebook
    "script": lambda book: {"heads.py": SCRIPT},
    "script_in_percent_format": lambda book: {"mine.py": b"# %%\nimport torch\n\n# %%\n" + SCRIPT},
    "half_a_script": lambda book: {"heads.py": QKV.encode()},
    "zip": lambda book: {"submission.zip": zipped(heads=QKV + OUTPUT)},
    "broken_member": lambda book: {"submission.zip": zipped(heads="def transpose_qkv(:\n" + OUTPUT)},
    "inner_folder": lambda book: {f"deep/assignment2/{REAL}": answered(book)},
    "outer_folder": lambda book: {f"../assignment4/{REAL}": answered(book)},
    "beside_the_folder": lambda book: {"../homework.py": SCRIPT},
    "two_answers": lambda book: {
        "a.ipynb": answered(book),
        "b.ipynb": answered(book, qkv("return X")),
    },
    "two_halves": lambda book: {"first.py": QKV.encode(), "second.py": OUTPUT.encode()},
    # eight formats that other editors write; nbgrader refuses some of them
    "vs_code": lambda book: {REAL: in_format(book, 2)},
    "vs_code_deleted": lambda book: {REAL: without_check(in_format(book, 2))},
    "vs_code_retyped": lambda book: {REAL: retyped(in_format(book, 2))},
    "vs_code_bare": lambda book: {REAL: in_format(book, 2, marked=False)},
    "colab": lambda book: {REAL: in_format(book, 0)},
    "colab_deleted": lambda book: {REAL: without_check(in_format(book, 0))},
    "colab_bare": lambda book: {REAL: in_format(book, 0, marked=False)},
    "minor_4_reversed": lambda book: {REAL: in_reverse(in_format(book, 4))},
}
FULL = [
    "right",
    "renamed",
    "renamed_beside_notes",
    "copy_beside",
    "crash_between",
    "own_module",
    "script",
    "script_in_percent_format",
    "zip",
    "inner_folder",
    "outer_folder",
    "beside_the_folder",
    "two_halves",
    *(name for name in CLASS if name.startswith(("vs_code", "colab", "minor"))),
]
# What holds nothing to grade needs a person, and has a blank in the outputs of `grader grade`.
HOLDS_NOTHING: dict[str, Files] = {
    "docx": {"homework.docx": b"PK"},
    "empty_folder": {},
    "broken_zip": {"a.zip": b"PK"},
}


@dataclass
class Graded:
    """The results of both ways."""

    nbgrader: dict[tuple[str, str], Mark]
    log: str  # of `nbgrader autograde`
    records: dict[str, list[dict]]  # student → records of `grader grade`

    def scores(self, student: str) -> dict[str, float]:
        results = [e for record in self.records[student] for e in record["exercises"]]
        return {e["name"]: e["score"] for e in results}


@pytest.fixture(scope="module")
def graded(made: School) -> Iterator[Graded]:
    nbgrader = Nbgrader(made, "both")
    nbgrader("generate_assignment", ASSIGNMENT)
    book = json.loads((nbgrader.folder / "release" / ASSIGNMENT / REAL).read_text("utf-8"))
    made_of = {student: files(json.loads(json.dumps(book))) for student, files in CLASS.items()}
    for student, files in {**made_of, **HOLDS_NOTHING}.items():
        place = nbgrader.folder / "submitted" / student / ASSIGNMENT
        place.mkdir(parents=True)
        for name, content in files.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(
                content if isinstance(content, bytes) else json.dumps(content).encode()
            )
        if not any(place.iterdir()) and files:
            place.rmdir()
    # A run that ended in the middle leaves this student without marks; the next run grades them.
    broken = "--Autograde.autograde_preprocessors=['no.such.Preprocessor']"
    nbgrader("autograde", ASSIGNMENT, "--student=vs_code_deleted", broken, status=1)
    log = nbgrader("autograde", ASSIGNMENT)
    # Use a separate store, so that `grader grade` uses no result of nbgrader.
    command = (BIN / "grader", "grade", "both/submitted", "--store", made.root / "own-store")
    lines = made.run(*command, "--format", "jsonl", cwd=made.root, status=3)
    records: dict[str, list[dict]] = {}
    for record in (json.loads(line) for line in lines.splitlines() if line.startswith("{")):
        records.setdefault(record["student"], []).append(record)
    yield Graded(marks(nbgrader), log, records)
    nbgrader.close()


@pytest.mark.parametrize("student", CLASS)
def test_both_ways_give_the_same_marks(graded, student):
    scores = graded.scores(student)
    assert scores
    for exercise in EXERCISES:
        mark, points = graded.nbgrader[student, exercise], scores.get(exercise, 0)
        assert (mark.auto, mark.needs_manual_grade) == (points, points is None), mark.comment


@pytest.mark.parametrize("student", FULL)
def test_right_answers_get_full_marks_whatever_file_they_are_in(graded, student):
    assert [graded.nbgrader[student, exercise].auto for exercise in EXERCISES] == [3.0, 3.0]


@pytest.mark.parametrize("student", HOLDS_NOTHING)
def test_what_holds_nothing_to_grade_needs_a_person(graded, student):
    (record,) = graded.records[student]
    assert (record["exercises"], len(record["remarks"])) == ([], 1)
    for exercise in EXERCISES:
        mark = graded.nbgrader[student, exercise]
        assert (mark.auto, mark.needs_manual_grade) == (None, True)
        assert record["remarks"][0] in (mark.comment or "")


def test_a_module_that_was_not_submitted_leaves_the_points_open(graded):
    (record,) = graded.records["missing_module"]
    (result,) = (e for e in record["exercises"] if e["name"] == "transpose_qkv")
    assert (result["outcome"], result["score"]) == ("could_not_grade", None)
    assert "`pieces`" in result["message"]


def test_a_file_of_another_name_is_reported_in_the_log(graded):
    assert f"renamed, {ASSIGNMENT}: heads_nora_final(2).ipynb was graded as {REAL}" in graded.log
    assert f"zip, {ASSIGNMENT}: submission.zip/heads.py was graded as {REAL}" in graded.log
    remark = f"copy_beside, {ASSIGNMENT}: also in the folder, not graded: {ASSIGNMENT}-Copy1.ipynb"
    assert remark in graded.log
    assert "also in the folder" in str(graded.records["copy_beside"])

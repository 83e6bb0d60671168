"""A made-up class for 04_heads: what each student submits, and the expected points and messages.

The two exercises of 04_heads are worth 3 points each. Five facets share the points of an exercise: shapes 1/9,
values 4/9, gradients 2/9, purity 1/9, defaults 1/9. An answer with only the gradient wrong gets seven ninths of the
points, an answer with wrong values at most one quarter. Points are rounded half up to one decimal. An answer that has a
wrong shape, is trivial or cannot run gets nothing.
"""

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass

from helpers.hostile_class import INSIDE, costly
from helpers.nbgrader_class.school import ASSIGNMENT, OUTPUT, QKV, Book, answered, cell, new_cell

NAME = f"{ASSIGNMENT}.ipynb"  # the notebook that students should submit
FULL, GRADIENT_WRONG = 3.0, 2.3  # 3 · 7/9 = 2.33
VALUES_WRONG = 0.3  # only shapes and purity pass (2/9), and alone they count half: 3 · 1/9 = 0.33
NOTHING = 0.0
HALF = "\ud800"  # a lone surrogate: JSON can express it, UTF-8 cannot

Files = dict[str, Book | bytes]  # path in the folder of the assignment → notebook or content


@dataclass(frozen=True)
class Student:
    """A submission and its expected result.

    files: makes the submitted files from the released notebook.
    qkv, output: the points of the two exercises; None: a person has to grade it.
    comment: a part of the comment on `transpose_qkv`; None for no comment.
    page: a text that the feedback page must have. log: a text in the log of `nbgrader autograde`.
    """

    files: Callable[[Book], Files]
    qkv: float | None = FULL
    output: float | None = FULL
    comment: str | None = None
    page: str = ""
    log: str = ""


def body(*lines: str) -> str:
    return "def transpose_qkv(X, num_heads):\n" + "".join(f"    {line}\n" for line in lines)


def changed(change: Callable[[Book], Book], *more: object, **expected: str) -> Student:
    """Return a student who changes the notebook with the right answers."""
    return Student(lambda book: {NAME: change(answered(book))}, *more, **expected)  # type: ignore[arg-type]


def wrong(source: str, comment: str, score: float = NOTHING) -> Student:
    """Return a student whose answer for `transpose_qkv` is `source`; the other answer is right."""
    return Student(lambda book: {NAME: answered(book, source)}, score, FULL, comment)


def broken(file: Callable[[Book], Book | bytes], comment: str) -> Student:
    return Student(lambda book: {NAME: file(book)}, NOTHING, NOTHING, comment)


def elsewhere(graded: str, **files: Callable[[Book], Book | bytes]) -> Student:
    """Return a student with right answers in files of other names. graded: the file that the log names."""
    log = f"{graded} was graded as {NAME}" if graded else ""
    return Student(lambda book: {name: file(book) for name, file in files.items()}, log=log)


# ---- notebooks that differ from the released one in more than the answers

NOISE = (
    "%matplotlib inline\n!ls\nimport logging, os, sys, warnings\n"
    "print('0.0 of 3 points', file=sys.stderr)\n"
    "warnings.warn('deprecated since long ago')\n"
    "os.write(2, b'past all of Python\\n')\n"
    "0.0\n"
)


def noisy(book: Book) -> Book:
    """Print much, in the answer and beside it; add a cell, a tag and another kernel."""
    loud = "    import sys\n    print(X.tolist(), file=sys.stderr)\n    B, T"
    cell(book, "transpose_qkv")["source"] = "%%time\n" + QKV.replace("    B, T", loud)
    book["cells"].insert(1, {**new_cell(NOISE), "metadata": {"tags": ["mine"]}})
    book["cells"].append(new_cell("1 / 0"))
    book["metadata"]["kernelspec"] = {"name": "another", "display_name": "Another", "language": "python"}
    return book


def without_check(book: Book) -> Book:
    book["cells"].remove(cell(book, "check-transpose_qkv"))
    return book


def renamed(book: Book) -> Book:
    for name in ("transpose_qkv", "transpose_output"):
        cell(book, name)["metadata"]["nbgrader"]["grade_id"] = f"my_{name}"
    return book


def tampered(book: Book) -> Book:
    """Change nbgrader's metadata so that nbgrader would raise an exception or give a hundred points.

    Also change the source of a graded cell, add a wrong copy of an answer, and reverse the cells after the third.
    """
    cell(book, "check-transpose_qkv")["metadata"]["nbgrader"].update(points=100.0)
    cell(book, "check-transpose_output")["source"] = "100.0"
    cell(book, "transpose_output")["metadata"]["nbgrader"].update(schema_version=0)
    copy = json.loads(json.dumps(cell(book, "transpose_qkv")))
    book["cells"].insert(2, {**copy, "source": body("return None"), "id": "copied"})
    book["cells"] = [*book["cells"][:3], *reversed(book["cells"][3:])]
    return book


def colab(book: Book) -> Book:
    """Return a notebook as Colab saves it: format 4.0, without nbgrader's marks."""
    book["nbformat_minor"] = 0
    for one in book["cells"]:
        del one["id"]
        one["metadata"] = {"id": "colab"}
    return book


def retyped(book: Book) -> Book:
    """Return a notebook as VS Code saves it, format 4.2, with an answer in a text cell."""
    book["nbformat_minor"] = 2
    for one in book["cells"]:
        del one["id"]
    changed = cell(book, "transpose_qkv")
    changed.update(cell_type="markdown")
    del changed["outputs"], changed["execution_count"]
    return book


def surrogates(book: Book) -> Book:
    """Put half a character into every part of a notebook."""
    answer = cell(book, "transpose_qkv")
    answer["source"] = QKV + f"# {HALF}\n"
    answer["outputs"] = [{"output_type": "stream", "name": "stdout", "text": HALF}]
    answer["metadata"][f"key {HALF}"] = 1
    book["cells"].append({"cell_type": "markdown", "id": "half", "metadata": {}, "source": f"a {HALF}"})
    book["cells"].append({**new_cell("x = 1"), "metadata": {"tags": [HALF], "nbgrader": {"grade_id": HALF}}})
    book["metadata"]["author"] = [{"name": HALF}]
    book["metadata"]["kernelspec"] = {"name": HALF, "display_name": HALF, "language": HALF}
    return book


def grows(book: Book) -> Book:
    """Nest a list of 250,000 numbers deeply: with indents, the file would be larger than 8 MiB."""
    book["metadata"]["deep"] = [1] * 250_000
    for _level in range(40):
        book["metadata"]["deep"] = [book["metadata"]["deep"]]
    return book


def another_assignment(book: Book) -> Book:
    return {**book, "cells": [new_cell("def masked_softmax(X, valid_lens):\n    return X\n")]}


def huge_output(book: Book) -> Book:
    """Add 9 MiB of printed output: the answer is small, but the file is too large."""
    book = answered(book)
    printed = {"output_type": "stream", "name": "stdout", "text": "x" * (9 << 20)}
    cell(book, "transpose_qkv")["outputs"] = [printed]
    return book


def forged_outputs(book: Book) -> Book:
    """Give the graded cells outputs with full points."""
    cell(book, "transpose_qkv")["source"] = body("return None")
    full = {"output_type": "execute_result", "data": {"text/plain": "3.0"}, "metadata": {}}
    for name in ("transpose_qkv", "transpose_output"):
        cell(book, f"check-{name}")["outputs"] = [{**full, "execution_count": 1}]
    return book


def zipped(book: Book) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("heads.py", QKV + OUTPUT)
    return made.getvalue()


def script(book: Book) -> bytes:
    return b"# %%\nimport torch\n\n# %%\n" + (QKV + OUTPUT).encode()


# `hand_in` in walk.py replaces /@COURSE@ and /@SEED@ by the real paths.
DELETES = (
    "import glob, os, shutil\n"
    "for place in ('gradebook.db', '../gradebook.db', '../../gradebook.db', '/@COURSE@/gradebook.db'):\n"
    "    try:\n        open(place, 'wb').close()\n    except OSError as error:\n        print(error)\n"
    "shutil.rmtree('/@COURSE@', ignore_errors=True)\n" + body("return open('/@SEED@').read()")
)
PATCHES = (
    "import builtins, grader, sys\n"
    "check = builtins.check = grader.check = lambda *a: 3.0\n"
    'print(\'{"score": 3.0, "outcome": "passed"}\')\n' + body("return X")
)
MARKUP = body("raise ValueError(f'secret {X.tolist()} <script>alert(1)</script> [/b] \\x1b[31m')")
CUT = QKV.replace(".transpose(1, 2)", "")
SPLIT = "from pieces import split\n" + body("return split(X, num_heads)")

CLASS: dict[str, Student] = {
    "a-right": changed(lambda book: book),
    # right, with much around it
    "r-noisy": changed(noisy),
    "r-crossed": Student(lambda book: {NAME: answered(book, OUTPUT, QKV)}),
    "r-module": Student(lambda book: {NAME: answered(book, SPLIT), "pieces.py": QKV.replace("transpose_qkv", "split").encode()}),
    # wrong
    "w-cut": wrong(CUT, "without moving the head axis", VALUES_WRONG),
    "w-again": wrong(CUT, "without moving the head axis", VALUES_WRONG),  # is graded again
    "w-detached": wrong(QKV.replace("X.reshape", "X.detach().reshape"), "gradient", GRADIENT_WRONG),
    "w-none": wrong(body("pass"), "not started"),
    "w-untouched": broken(lambda book: book, "No response."),
    "w-no-module": Student(lambda book: {NAME: answered(book, SPLIT)}, None, FULL, "`pieces`"),
    # broken
    "b-syntax": wrong("def transpose_qkv(:\n", "blocked"),
    "b-text": broken(lambda book: b"{ this is no notebook", "is not a notebook"),
    "b-huge-output": broken(huge_output, "larger than 8 MiB"),
    "b-another": broken(another_assignment, "not defined in 04_heads.ipynb"),
    # cells that were deleted, renamed, copied, moved or damaged: no points are lost
    "c-deleted": changed(without_check, page="The cell check-transpose_qkv was missing and was put back."),
    "c-renamed": changed(renamed, page="transpose_qkv was missing"),
    "c-tampered": changed(tampered, page="The cell transpose_qkv is there more than once"),
    "c-colab": changed(colab),
    "c-retyped": changed(retyped),
    "c-grows": changed(grows),
    "c-surrogates": changed(surrogates, page="not valid Unicode", log="c-surrogates, 04_heads: The notebook contained characters that are not valid Unicode."),
    # files and folders in which nbgrader alone finds no notebook
    "f-renamed": elsewhere("heads_nora(2).ipynb", **{"heads_nora(2).ipynb": answered, "notes.ipynb": lambda book: book}),
    "f-copy": Student(lambda book: {NAME: answered(book), "04_heads-Copy1.ipynb": book}, log="also in the folder, not graded: 04_heads-Copy1.ipynb"),
    "f-script": elsewhere("heads.py", **{"heads.py": script}),
    "f-zip": elsewhere("x.zip/heads.py", **{"x.zip": zipped}),
    "f-inner": elsewhere("deep/2/04_heads.ipynb", **{f"deep/2/{NAME}": answered}),
    "f-halves": elsewhere("", **{"first.py": lambda book: QKV.encode(), "second.py": lambda book: OUTPUT.encode()}),
    "f-docx": Student(lambda book: {"homework.docx": b"PK"}, None, None, "it holds homework.docx"),
    "f-empty": Student(lambda book: {}, None, None, "is empty"),
    # hostile
    "h-exit": broken(lambda book: answered(book, "import os\n" + body("os._exit(0)")), "the worker process ended twice"),  # a demo calls it
    "h-check": wrong(PATCHES, "failed"),
    "h-files": wrong(DELETES, "failed"),
    "h-markup": wrong(MARKUP, "ValueError"),
    "h-outputs": changed(forged_outputs, NOTHING, FULL, "unexpected type"),
    "z-right": changed(lambda book: book),
}  # fmt: skip
# A few of those that classroom/test_hostile_submissions.py grades; the second answer may be graded or not.
HOSTILE = {kind: costly(kind) for kind in ("letters", "chain")} | {
    kind: source for kind, (source, _says) in INSIDE.items()
}

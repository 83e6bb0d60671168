"""A made-up class for 04_heads: what each student submits, and the expected points and messages.

The two exercises of 04_heads are worth 3 points each. Five facets share the points of an exercise: shapes 1/9,
values 4/9, gradients 2/9, purity 1/9, defaults 1/9. An answer with only the gradient wrong gets seven ninths of the points. An
answer with wrong values gets at most one quarter. Points are rounded half up to one decimal. An answer that has a wrong shape, is trivial or cannot run gets
nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from helpers.nbgrader_class.school import LOUD, OUTPUT, QKV, Book, answered, cell, new_cell, tampered

# Points of an exercise. If *values* fails, a facet may count less; see grader/engine/scoring.py.
FULL, GRADIENT_WRONG = 3.0, 2.3  # 3 · 7/9 = 2.33
VALUES_WRONG = 0.3  # only shapes and purity pass (2/9), and alone they count half: 3 · 1/9 = 0.33
QUARTER, NOTHING = 0.8, 0.0  # QUARTER: values fail, so one quarter is the most: 0.75


@dataclass(frozen=True)
class Student:
    """A submission and its expected result.

    file: makes the submitted file from the released notebook. qkv, output: the points of the two exercises.
    comment: a part of the comment on `transpose_qkv`; None for no comment.
    page: a text that the feedback page must have.
    """

    file: Callable[[Book], Book | bytes]
    qkv: float
    output: float
    comment: str | None
    page: str = ""


def body(*lines: str) -> str:
    return "def transpose_qkv(X, num_heads):\n" + "".join(f"    {line}\n" for line in lines)


def writes(source: str) -> Callable[[Book], Book]:
    """Return a function that answers `transpose_qkv` with `source` and the other exercise right."""
    return lambda book: answered(book, source)


def right(source: str) -> Student:
    return Student(writes(source), FULL, FULL, None)


def wrong(source: str, comment: str, score: float = VALUES_WRONG) -> Student:
    return Student(writes(source), score, FULL, comment)


def broken(file: Callable[[Book], Book | bytes], comment: str) -> Student:
    return Student(file, NOTHING, NOTHING, comment)


# ---- notebooks that differ from the released one in more than the answers


def helper_elsewhere(book: Book) -> Book:
    """Call a function from an added cell. This cell has tags, and a magic and a shell command above the function."""
    book = answered(book, body("return split(X, num_heads)"))
    own = "%matplotlib inline\n!ls\ndef split(X, H):\n    return X.unflatten(-1, (H, -1)).transpose(1, 2).flatten(0, 1)\n"
    book["cells"].insert(1, {**new_cell(own), "metadata": {"tags": ["mine", "hide_input"]}})
    return book


NOISE = (
    "import logging, os, sys, warnings\n"
    "print('0.0 of 3 points', file=sys.stderr)\n"
    "warnings.warn('deprecated since long ago')\n"
    "logging.error('a line of a log')\n"
    "os.write(2, b'past all of Python\\n')\n"
    "display(0.0)\n"
    "0.0\n"
)


def noisy(qkv: str) -> Callable[[Book], Book]:
    """Return a function that submits an answer that prints, between two cells that print."""

    def hand_in(book: Book) -> Book:
        book = answered(book, "%%time\n" + qkv.replace("    B, T", LOUD + "    B, T"))
        book["cells"].insert(1, new_cell(NOISE))
        book["cells"].append(new_cell(NOISE + "transpose_qkv(torch.ones(1, 2, 4), 2)\n"))
        return book

    return hand_in


def without_cells(book: Book) -> Book:
    """Delete the graded cell of the first exercise; keep both answers."""
    book = answered(book, QKV + "# mine\n")
    book["cells"].remove(cell(book, "check-transpose_qkv"))
    return book


def without_anything(book: Book) -> Book:
    return {**book, "cells": []}


def renamed(book: Book) -> Book:
    book = answered(book)
    for name in ("transpose_qkv", "transpose_output"):
        cell(book, name)["metadata"]["nbgrader"]["grade_id"] = f"my_{name}"
    return book


def copied(book: Book) -> Book:
    """Insert a wrong copy above the cell of the first answer: the lower cell counts."""
    book = answered(book)
    first = json.loads(json.dumps(cell(book, "transpose_qkv")))
    place = book["cells"].index(cell(book, "transpose_qkv"))
    book["cells"].insert(place, {**first, "source": body("return None"), "id": "copied"})
    return book


def reordered(book: Book) -> Book:
    """Reverse the order of all cells."""
    book = answered(book)
    return {**book, "cells": book["cells"][::-1]}


def without_marks(book: Book) -> Book:
    """Remove nbgrader's metadata from every cell, as some other editors do."""
    book = answered(book)
    for part in book["cells"]:
        part["metadata"] = {}
    return book


def another_assignment(book: Book) -> Book:
    return {**book, "cells": [new_cell("def masked_softmax(X, valid_lens):\n    return X\n")]}


def huge(book: Book) -> bytes:
    return json.dumps(answered(book, QKV + f"# {'x' * (9 << 20)}\n")).encode()


def huge_output(book: Book) -> Book:
    """Add 9 MiB of printed output: the answer is small, but the file is too large."""
    book = answered(book)
    printed = {"output_type": "stream", "name": "stdout", "text": "x" * (9 << 20)}
    cell(book, "transpose_qkv")["outputs"] = [printed]
    return book


def forged_outputs(book: Book) -> Book:
    """Give the graded cells outputs with full points."""
    book = answered(book, body("return None"))
    for name in ("transpose_qkv", "transpose_output"):
        full = {
            "output_type": "execute_result",
            "data": {"text/plain": "3.0"},
            "metadata": {},
            "execution_count": 1,
        }
        cell(book, f"check-{name}")["outputs"] = [full]
    return book


def crossed(book: Book) -> Book:
    """Put each answer into the cell of the other exercise."""
    return answered(book, OUTPUT, QKV)


def swapped(book: Book) -> Book:
    """Exchange the bodies of the two functions."""
    names = "transpose_qkv", "transpose_output"
    return answered(book, OUTPUT.replace(*names[::-1]), QKV.replace(*names))


HOSTILE_EXIT = "import os\n" + body("os._exit(0)")
HOSTILE_CHECK = (
    "import builtins, grader, sys\n"
    "check = builtins.check = grader.check = lambda *a: 3.0\n"
    'print(\'{"score": 3.0, "outcome": "passed"}\')\n' + body("return X")
)
# `handed_in` in walks.py replaces /@COURSE@ and /@SEED@ by the real paths.
HOSTILE_FILES = (
    "import glob, os, shutil\n"
    "for place in ('gradebook.db', '../gradebook.db', '../../gradebook.db', '/@COURSE@/gradebook.db'):\n"
    "    try:\n        open(place, 'wb').close()\n    except OSError as error:\n        print(error)\n"
    "shutil.rmtree('/@COURSE@', ignore_errors=True)\n" + body("return open('/@SEED@').read()")
)
HOSTILE_MARKUP = body("raise ValueError(f'secret {X.tolist()} <script>alert(1)</script> [/b] \\x1b[31m')")
HOSTILE_LIAR = (
    "import torch\n"
    "class Liar(torch.Tensor):\n"
    "    def __eq__(self, other): return torch.ones(1).bool()\n"
    "    @classmethod\n"
    "    def __torch_function__(cls, f, types, args=(), kwargs=None): return torch.ones(1).bool()\n"
    + body("return X.as_subclass(Liar)")
)

CLASS: dict[str, Student] = {
    # right, in several ways
    "r-reshape": right(QKV),
    "r-permute": right(body("B, T, D = X.size()", "X = X.view(B, T, num_heads, D // num_heads).permute(0, 2, 1, 3) if X.is_contiguous() else X.reshape(B, T, num_heads, D // num_heads).permute(0, 2, 1, 3)", "return X.flatten(0, 1)")),
    "r-chunks": right("import torch as t\n" + body("return t.stack(X.chunk(num_heads, -1), 1).flatten(0, 1)")),
    "r-loops": right(body("d = X.shape[2] // num_heads", "return torch.stack([x[:, h * d : (h + 1) * d] for x in X for h in range(num_heads)])")),
    "r-lambda": right("transpose_qkv = lambda X, num_heads: X.unflatten(-1, (num_heads, -1)).swapaxes(1, 2).flatten(0, 1)\n"),
    "r-noisy": Student(noisy(QKV), FULL, FULL, None),
    "r-helper": Student(helper_elsewhere, FULL, FULL, None),
    "r-crossed": Student(crossed, FULL, FULL, None),
    # wrong
    "w-cut": wrong(QKV.replace(".transpose(1, 2)", ""), "without moving the head axis"),
    "w-factor": wrong(QKV.replace("return ", "return 1.37 * "), "All values are the same multiple of the expected values"),
    "w-offset": wrong(QKV.replace("return ", "return 1.5 + "), "failed", QUARTER),
    "w-detached": wrong(QKV.replace("X.reshape", "X.detach().reshape"), "gradient", GRADIENT_WRONG),
    "w-detached-noisy": Student(noisy(QKV.replace("X.reshape", "X.detach().reshape")), GRADIENT_WRONG, FULL, "gradient"),
    "w-order": wrong("import torch\n" + body("return torch.cat(X.chunk(num_heads, -1))"), "head 0 of all sequences first"),
    "w-reversed": wrong("import torch\n" + body("return torch.stack(X.chunk(num_heads, -1)[::-1], 1).flatten(0, 1)"), "heads"),
    "w-four-axes": wrong(body("B, T, D = X.shape", "return X.reshape(B, T, num_heads, -1).transpose(1, 2)"), "axis of their own", NOTHING),
    "w-first-head": wrong(body("d = X.shape[2] // num_heads", "return X[:, :, :d].repeat_interleave(num_heads, 0)"), "failed"),
    "w-no-heads": wrong(body("return X.repeat_interleave(num_heads, 0)"), "a copy of all features", NOTHING),
    "w-one-head": wrong(body("return X[:, :, : X.shape[2] // num_heads]"), "failed", NOTHING),
    "w-input": wrong(body("return X"), "failed", NOTHING),
    "w-zeros": wrong("import torch\n" + body("B, T, D = X.shape", "return torch.zeros(B * num_heads, T, D // num_heads)"), "failed", NOTHING),
    "w-none": wrong(body("pass"), "not started", NOTHING),
    "w-text": wrong(body("return 'heads'"), "failed", NOTHING),
    "w-nan": wrong(QKV.replace("return ", "return float('nan') * "), "NaN", NOTHING),
    "w-double": wrong(QKV.replace("return ", "return 2 * "), "failed"),
    "w-in-place": wrong(QKV.replace("    B, T", "    X.detach().add_(1)\n    B, T"), "failed", QUARTER),
    "w-view": wrong(QKV.replace(".reshape(B * num_heads, T, -1)", ".view(B * num_heads, T, -1)"), "view", NOTHING),
    "w-misspelt": wrong(QKV.replace("X.shape", "X.shpae"), "AttributeError", NOTHING),
    "w-recursion": wrong(body("return transpose_qkv(X, num_heads)"), "RecursionError", NOTHING),
    "w-arguments": wrong(QKV.replace("(X, num_heads)", "(X)"), "other interface", NOTHING),
    "w-swapped": Student(swapped, NOTHING, NOTHING, "failed"),
    "w-untouched": broken(lambda book: book, "No response."),
    # broken
    "b-syntax": wrong("def transpose_qkv(:\n", "blocked", NOTHING),
    "b-text": broken(lambda book: b"{ this is no notebook", "is not a notebook"),
    "b-empty": broken(lambda book: b"", "is empty"),
    "b-bytes": broken(lambda book: b"\x89PNG\r\n\x1a\n\0\0", "not UTF-8"),
    "b-huge": broken(huge, "larger than 8 MiB"),
    "b-huge-output": Student(huge_output, NOTHING, NOTHING, "larger than 8 MiB"),
    "b-no-cells": Student(without_anything, NOTHING, NOTHING, "not defined"),
    "b-another": Student(another_assignment, NOTHING, NOTHING, "not defined in 04_heads.ipynb"),
    # cells that were deleted, renamed, copied or moved: no points are lost
    "c-deleted": Student(without_cells, FULL, FULL, None, "check-transpose_qkv was missing"),
    "c-renamed": Student(renamed, FULL, FULL, None, "transpose_qkv was missing"),
    "c-copied": Student(copied, FULL, FULL, None, "more than once"),
    "c-reordered": Student(reordered, FULL, FULL, None),
    "c-unmarked": Student(without_marks, FULL, FULL, None),
    # hostile
    "h-exit": broken(writes(HOSTILE_EXIT), "the worker process ended twice"),  # a demo cell calls it while the file loads
    "h-check": wrong(HOSTILE_CHECK, "failed", NOTHING),
    "h-files": wrong(HOSTILE_FILES, "failed", NOTHING),
    "h-markup": wrong(HOSTILE_MARKUP, "ValueError", NOTHING),
    "h-liar": wrong(HOSTILE_LIAR, "failed", NOTHING),
    "h-outputs": Student(forged_outputs, NOTHING, FULL, "unexpected type"),
    "h-points": Student(tampered, FULL, FULL, None, "more than once"),
}  # fmt: skip
# Students of `by_the_exchange` in walks.py who submit late, twice or never.
LATE, TWICE, ABSENT = "l-late", "l-twice", "l-absent"

"""A made-up class for nbgrader: the folders, real commands, and what each student submits."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helpers.command_line import HANGS_AFTER

ROOT = Path(__file__).resolve().parents[3]
BIN = Path(sys.executable).parent
ASSIGNMENT = "04_heads"

QKV = (
    "def transpose_qkv(X, num_heads):\n"
    "    B, T, D = X.shape\n"
    "    return X.reshape(B, T, num_heads, -1).transpose(1, 2).reshape(B * num_heads, T, -1)\n"
)
OUTPUT = (
    "def transpose_output(X, num_heads):\n"
    "    R, T, d = X.shape\n"
    "    return X.reshape(R // num_heads, num_heads, T, d).transpose(1, 2).reshape(R // num_heads, T, -1)\n"
)
LOUD = "    import sys, warnings\n    print(X.tolist(), file=sys.stderr)\n    warnings.warn('careful', stacklevel=1)\n"

Book = dict[str, Any]


@dataclass(frozen=True)
class School:
    """An instructor's checkout with one assignment, and the nbgrader course made from it."""

    root: Path

    @property
    def course(self) -> Path:
        return self.root / "course"

    @property
    def environment(self) -> dict[str, str]:
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("HEADWAY", "XDG"))}
        own = {
            "HOME": self.root / "home",
            "XDG_CACHE_HOME": self.root / "cache",
            "PATH": f"{BIN}:{os.environ['PATH']}",
        }
        return {
            **inherited,
            **{k: str(v) for k, v in own.items()},
            "JUPYTER_PLATFORM_DIRS": "1",
            "PYTHONWARNINGS": "ignore",
        }

    def run(self, *command: object, cwd: Path | None = None, status: int = 0) -> str:
        done = subprocess.run(
            [*map(str, command)],
            cwd=cwd or self.course,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=HANGS_AFTER,
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    def released(self) -> Book:
        return json.loads((self.course / "release" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").read_text("utf-8"))

    def hand_in(self, student: str, text: str) -> None:
        path = self.course / "submitted" / student / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(text, "utf-8")

    def autograded(self, student: str) -> Book:
        return json.loads(
            (self.course / "autograded" / student / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").read_text("utf-8")
        )

    def feedback(self, student: str) -> str:
        return (self.course / "feedback" / student / ASSIGNMENT / f"{ASSIGNMENT}.html").read_text("utf-8")


def school_of(root: Path, assignment: str) -> School:
    """Make a checkout and a course with one assignment, and run `nbgrader generate_assignment`."""
    for top in ("assignments", "solutions"):
        shutil.copytree(ROOT / top / assignment, root / top / assignment)
    shutil.copy(ROOT / "assignments" / "headway.toml", root / "assignments")
    (root / "home").mkdir()
    school = School(root)
    school.run(BIN / "grader", "course", "course", "--course", root, cwd=root)
    school.run(BIN / "nbgrader", "generate_assignment", assignment)
    return school


def cell(book: Book, grade_id: str) -> dict[str, Any]:
    return next(c for c in book["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == grade_id)


def answered(book: Book, qkv: str = QKV, output: str = OUTPUT) -> Book:
    book = json.loads(json.dumps(book))
    cell(book, "transpose_qkv")["source"] = qkv
    cell(book, "transpose_output")["source"] = output
    return book


def right_and_loud(book: Book) -> Book:
    """Answer right, print much, and add a cell, a tag and another kernel."""
    book = answered(book, "%%time\n" + QKV.replace("    B, T", LOUD + "    B, T"))
    book["cells"].insert(
        1, {**new_cell("%matplotlib inline\n!ls\nprint('hello')"), "metadata": {"tags": ["mine"]}}
    )
    book["metadata"]["kernelspec"] = {"name": "another", "display_name": "Another", "language": "python"}
    return book


def deleted_and_renamed(book: Book) -> Book:
    """Delete the graded cell of the first exercise; rename the `grade_id` of the second solution."""
    book = answered(book)
    book["cells"].remove(cell(book, "check-transpose_qkv"))
    cell(book, "transpose_output")["metadata"]["nbgrader"]["grade_id"] = "my_own_name"
    return book


def tampered(book: Book) -> Book:
    """Change nbgrader's metadata so that nbgrader would raise an exception or give a hundred points.

    Also change the source of a graded cell, add a wrong copy of an answer, and reverse the cells after the third.
    """
    book = answered(book)
    cell(book, "check-transpose_qkv")["metadata"]["nbgrader"].update(points=100.0)
    cell(book, "check-transpose_output")["source"] = "100.0"
    cell(book, "transpose_output")["metadata"]["nbgrader"].update(schema_version=0)
    copy = json.loads(json.dumps(cell(book, "transpose_qkv")))
    book["cells"].insert(
        2, {**copy, "source": "def transpose_qkv(X, num_heads):\n    return None\n", "id": "copied"}
    )
    book["cells"] = [*book["cells"][:3], *reversed(book["cells"][3:])]
    return book


def another_assignment(book: Book) -> Book:
    return {**book, "cells": [new_cell("def masked_softmax(X, valid_lens):\n    return X\n")]}


def new_cell(source: str) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "id": f"new{len(source)}",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
        "source": source,
    }


CRASHING = "def transpose_qkv(X, num_heads):\n    raise ValueError(f'secret {X.tolist()} <script>alert(1)</script>')\n"
HOSTILE = (
    "import os, sys\nprint('x' * 1000, file=sys.stderr)\ndef transpose_qkv(X, num_heads):\n    os._exit(0)\n"
)

# Student → function from the released notebook to the submitted one; a text is submitted as it is.
CLASS: dict[str, Callable[[Book], Book | str]] = {
    "ada": right_and_loud,
    "bob": lambda book: answered(book, QKV.replace(".transpose(1, 2)", "")),
    "cyd": lambda book: answered(book, QKV.replace("return ", "return 1.37 * ")),
    "dee": lambda book: answered(book, "def transpose_qkv(:\n"),
    "eve": lambda book: answered(book, CRASHING),
    "fay": lambda book: book,
    "gus": lambda book: answered(book, HOSTILE),
    "hal": deleted_and_renamed,
    "ivy": lambda book: "{ this is no notebook",
    "jon": tampered,
    # The factor depends on the input.
    "jim": lambda book: answered(book, QKV.replace("return ", "return X.abs().max() * ")),
    "kim": another_assignment,
    "lea": lambda book: answered(book, QKV.replace(".transpose(1, 2)", "")),  # is graded again
}

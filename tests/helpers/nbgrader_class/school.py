"""An instructor's checkout with one assignment, the nbgrader course made from it, and its notebooks."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
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
Book = dict[str, Any]


@dataclass(frozen=True)
class School:
    """An instructor's checkout with one assignment, and the nbgrader course made from it."""

    root: Path

    @property
    def course(self) -> Path:
        return self.root / "course"

    @property
    def seed(self) -> Path:
        return self.root / "home" / ".config" / "headway" / "seed"

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


def new_cell(source: str) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "id": f"new{len(source)}",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
        "source": source,
    }

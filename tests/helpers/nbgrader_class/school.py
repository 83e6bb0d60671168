"""An instructor's checkout with one assignment, the nbgrader course made from it, and its notebooks."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helpers.command_line import GRADER, RIGHT, process
from helpers.school import make_school

BIN = GRADER.parent
ASSIGNMENT = "04_heads"

QKV = RIGHT.partition("\n")[2]  # without its import
OUTPUT = (
    "def transpose_output(X, num_heads):\n"
    "    R, T, d = X.shape\n"
    "    return X.reshape(R // num_heads, num_heads, T, d).transpose(1, 2).reshape(R // num_heads, T, -1)\n"
)
Book = dict[str, Any]


def environment(home: Path, cache: Path, **more: str) -> dict[str, str]:
    """Return the environment of an instructor: a home folder, a cache, and no settings of the grader or of Jupyter."""
    inherited = {
        k: v for k, v in os.environ.items() if not k.startswith(("HEADWAY", "XDG", "JUPYTER", "OLDPWD"))
    }
    return {
        **inherited,
        "HOME": str(home),
        "XDG_CACHE_HOME": str(cache),
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "JUPYTER_PLATFORM_DIRS": "1",
        "PYTHONWARNINGS": "ignore",
        **more,
    }


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
        return environment(self.root / "home", self.root / "cache")

    def run(self, *command: object, cwd: Path | None = None, status: int = 0) -> str:
        done = process(*command, cwd=cwd or self.course, env=self.environment)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    def file(self, *folders: str, ending: str = "ipynb") -> str:
        """Return the text of the assignment's file below a folder of the course, such as "feedback", "ada"."""
        return self.course.joinpath(*folders, ASSIGNMENT, f"{ASSIGNMENT}.{ending}").read_text("utf-8")

    def released(self) -> Book:
        return json.loads(self.file("release"))

    def autograded(self, student: str) -> Book:
        return json.loads(self.file("autograded", student))

    def feedback(self, student: str) -> str:
        return self.file("feedback", student, ending="html")


def school_of(root: Path) -> School:
    """Make a checkout and a course with one assignment, and run `nbgrader generate_assignment`."""
    school = School(make_school(root, ASSIGNMENT))
    (root / "home").mkdir()
    school.run(GRADER, "course", "course", "--course", root, cwd=root)
    school.run(BIN / "nbgrader", "generate_assignment", ASSIGNMENT)
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

"""Take the class of `students.py` through nbgrader's commands: by the exchange, and from an archive of downloads."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from nbgrader.api import Gradebook, SubmittedNotebook

from helpers.nbgrader_class.school import ASSIGNMENT, BIN, QKV, School, answered
from helpers.nbgrader_class.students import ABSENT, CLASS, LATE, TWICE

# This program runs the commands of nbgrader, each in a fork of one process, so that nbgrader is imported once.
FORKED = Path(__file__).with_name("forked.py")
# Configuration: a penalty for late submissions, and the folder of the exchange.
POLICY = """
import sys
sys.path.insert(0, {folder!r})
c.AssignLatePenalties.plugin_class = "policy.PointAnHour"
c.Exchange.root = {exchange!r}
"""
# The plugin that POLICY names: a point per started hour.
PLUGIN = """
import math
from nbgrader.plugins import BasePlugin
class PointAnHour(BasePlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return math.ceil(total_seconds_late / 3600)
"""
# Configuration: how `nbgrader zip_collect` finds the student in the name of a file.
DOWNLOADS = """
c.FileNameCollectorPlugin.named_regexp = r".*/(?P<student_id>[\\w-]+)_(?P<file_id>04_heads)\\.ipynb"
"""
# Configuration that makes every grading fail.
NO_WORKER = """
from grader.classroom.bounded_grading import BoundedGrading
from grader.sandbox.base import SandboxError
def run(*given):
    raise SandboxError("no worker can be started")
BoundedGrading.run = run
"""


@dataclass
class Nbgrader:
    """Run commands of nbgrader in one course, as the instructor or as a student."""

    school: School
    name: str
    _server: subprocess.Popen[str] = field(init=False)

    def __post_init__(self) -> None:
        self.school.run(BIN / "grader", "course", self.name, cwd=self.school.root)
        command = [sys.executable, str(FORKED)]
        self._server = subprocess.Popen(
            command, env=self.school.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    @property
    def folder(self) -> Path:
        return self.school.root / self.name

    @property
    def exchange(self) -> Path:
        return self.school.root / f"{self.name}-exchange"

    def configure(self, lines: str) -> None:
        with (self.folder / "nbgrader_config.py").open("a", encoding="utf-8") as file:
            file.write(lines)

    def __call__(self, *argv: str, student: str = "", status: int = 0) -> str:
        """Run a command of nbgrader and return its output. status: the exit status that it must have.

        student: run it as this student, in the student's home folder, without the course's configuration.
        Raises AssertionError for another exit status.
        """
        home = self.home(student) if student else self.folder
        environment = self.school.environment
        if student:
            environment |= {"HOME": str(home), "JUPYTER_DATA_DIR": str(home / "jupyter")}
            environment.pop("XDG_CACHE_HOME")
        log = self.school.root / "output"
        call = {"argv": argv, "cwd": str(home), "env": environment, "log": str(log)}
        assert self._server.stdin is not None and self._server.stdout is not None
        print(json.dumps(call), file=self._server.stdin, flush=True)
        actual = self._server.stdout.readline().strip()
        output = log.read_text("utf-8", "replace")
        assert actual == str(status), f"nbgrader {' '.join(argv)} ended with {actual}\n{output[-3000:]}"
        return output

    def home(self, student: str) -> Path:
        folder = self.school.root / f"{self.name}-homes" / student
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def student(self, student: str, command: str, *options: str) -> str:
        """Run a command of the exchange as a student, and return its output."""
        about = (f"--Exchange.root={self.exchange}", f"--course={self.name}", f"--student={student}")
        return self(command, ASSIGNMENT, *about, *options, student=student)

    @contextmanager
    def gradebook(self) -> Iterator[Gradebook]:
        with Gradebook(f"sqlite:///{self.folder / 'gradebook.db'}") as gradebook:
            yield gradebook

    def close(self) -> None:
        assert self._server.stdin is not None and self._server.stdout is not None
        self._server.stdin.close()
        self._server.wait(30)
        self._server.stdout.close()


@dataclass(frozen=True)
class Mark:
    """The scores and comments in the gradebook for one exercise of one student.

    needs_manual_grade: whether nbgrader asks the instructor to grade the exercise by hand.
    """

    auto: float | None
    manual: float | None
    needs_manual_grade: bool
    comment: str | None
    manual_comment: str | None


def marks(nbgrader: Nbgrader) -> dict[tuple[str, str], Mark]:
    """Return (student, exercise) → mark."""
    with nbgrader.gradebook() as gradebook:
        found = [
            (submission.student_id, notebook)
            for submission in gradebook.assignment_submissions(ASSIGNMENT)
            for notebook in submission.notebooks
        ]
        return {
            (student, exercise): _mark(notebook, exercise)
            for student, notebook in found
            for exercise in ("transpose_qkv", "transpose_output")
        }


def _mark(notebook: SubmittedNotebook, exercise: str) -> Mark:
    grade = next(g for g in notebook.grades if g.name == f"check-{exercise}")
    comment = next(c for c in notebook.comments if c.name == exercise)
    return Mark(
        grade.auto_score,
        grade.manual_score,
        grade.needs_manual_grade,
        comment.auto_comment,
        comment.manual_comment,
    )


def handed_in(nbgrader: Nbgrader, student: str, book: dict[str, object]) -> bytes:
    """Return the file that a student submits, with the real paths of course and seed. book: the released notebook."""
    made = CLASS[student].file(json.loads(json.dumps(book)))
    data = made if isinstance(made, bytes) else json.dumps(made).encode()
    seed = nbgrader.school.root / "home" / ".config" / "headway" / "seed"
    return data.replace(b"/@COURSE@", str(nbgrader.folder).encode()).replace(b"/@SEED@", str(seed).encode())


def by_the_exchange(school: School) -> Nbgrader:
    """Grade a class through nbgrader's exchange.

    Release, fetch, submit, collect, autograde. Then one student submits again, and one submits late. Collect and
    autograde again, release the feedback, and export.
    """
    nbgrader = Nbgrader(school, "walk")
    nbgrader.configure(POLICY.format(folder=str(nbgrader.folder), exchange=str(nbgrader.exchange)))
    (nbgrader.folder / "policy.py").write_text(PLUGIN, "utf-8")
    nbgrader.exchange.mkdir()
    nbgrader.exchange.chmod(0o777)
    nbgrader("generate_assignment", ASSIGNMENT)
    nbgrader("release_assignment", ASSIGNMENT)
    nbgrader("db", "student", "add", ABSENT)
    for student in CLASS:
        submit(nbgrader, student)
    submit(
        nbgrader, TWICE, answered(fetched(nbgrader, TWICE), "def transpose_qkv(X, num_heads):\n    pass\n")
    )
    nbgrader("collect", ASSIGNMENT)
    nbgrader("autograde", ASSIGNMENT)
    submit(nbgrader, TWICE, answered(fetched(nbgrader, TWICE)))
    due = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%f UTC")
    nbgrader("db", "assignment", "add", ASSIGNMENT, f"--duedate={due}")
    submit(nbgrader, LATE, answered(fetched(nbgrader, LATE), QKV.replace("X.reshape", "X.detach().reshape")))
    nbgrader("collect", ASSIGNMENT, "--update")
    nbgrader("autograde", ASSIGNMENT)
    nbgrader("generate_feedback", ASSIGNMENT)
    nbgrader("release_feedback", ASSIGNMENT)
    for student in (LATE, "w-cut"):
        nbgrader.student(student, "fetch_feedback")
    nbgrader("export")
    return nbgrader


def fetched(nbgrader: Nbgrader, student: str) -> dict[str, object]:
    """Return the notebook in a student's folder; fetch it from the exchange the first time."""
    place = nbgrader.home(student) / ASSIGNMENT
    if not place.exists():
        nbgrader.student(student, "fetch_assignment")
    return json.loads((place / f"{ASSIGNMENT}.ipynb").read_text("utf-8"))


def submit(nbgrader: Nbgrader, student: str, book: dict[str, object] | None = None) -> None:
    """Submit a notebook; by default, the one of this student in `CLASS`."""
    released = fetched(nbgrader, student)
    data = handed_in(nbgrader, student, released) if book is None else json.dumps(book).encode()
    (nbgrader.home(student) / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").write_bytes(data)
    nbgrader.student(student, "submit")


def by_downloads(school: School) -> Nbgrader:
    """Collect a class from a downloaded archive whose file names hold the students' names. Do not grade it."""
    nbgrader = Nbgrader(school, "zipped")
    nbgrader.configure(DOWNLOADS)
    nbgrader("generate_assignment", ASSIGNMENT)
    released = json.loads(
        (nbgrader.folder / "release" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").read_text("utf-8")
    )
    archive = nbgrader.folder / "downloaded" / ASSIGNMENT / "archive" / "downloads.zip"
    archive.parent.mkdir(parents=True)
    with zipfile.ZipFile(archive, "w") as downloads:
        for student in CLASS:
            downloads.writestr(f"{student}_{ASSIGNMENT}.ipynb", handed_in(nbgrader, student, released))
    nbgrader("zip_collect", ASSIGNMENT)
    return nbgrader

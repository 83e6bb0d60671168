"""Take the class of `students.py` through nbgrader's commands once; the tests read what is left behind."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import Gradebook

from grader.bundle.files import MANIFEST_FILE
from helpers.command_line import GRADER
from helpers.hostile_class import plant_stores
from helpers.nbgrader_class.school import ASSIGNMENT, BIN, Book, School, answered
from helpers.nbgrader_class.students import CLASS, HOSTILE, NAME

EXERCISES = ("transpose_qkv", "transpose_output")
DUE, SECONDS_LATE = "2027-03-01 18:00:00 UTC", 10
ABORTED, AGAIN = "c-colab", "w-again"  # students of a run that ends in the middle, and of a regrade


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


Marks = dict[tuple[str, str], Mark]  # (student, exercise) → mark


@dataclass(frozen=True)
class Walk:
    """The course after the walk.

    log, marks: of `nbgrader autograde`. refused, trusted: the marks of AGAIN in the basic tier, without and with trusted
    submissions, after an instructor typed a score. records: student → records of `grader grade`, with a store of its own.
    """

    school: School
    log: str
    marks: Marks
    refused: Marks
    trusted: Marks
    records: dict[str, list[dict]]

    @property
    def course(self) -> Path:
        return self.school.course


def walk_of(school: School) -> Walk:
    """Submit, grade with `grader grade`; add odd and hostile submissions, autograde, regrade one student, export."""

    def nbgrader(*argv: str, status: int = 0) -> str:
        return school.run(BIN / "nbgrader", *argv, status=status)

    hand_in(school)
    # Use a separate store, so that nbgrader uses no result of `grader grade`.
    options = ("--course", school.root, "--store", school.root / "own-store", "--format", "jsonl")
    lines = school.run(GRADER, "grade", "course/submitted", *options, cwd=school.root, status=3)
    records: dict[str, list[dict]] = {}
    for record in (json.loads(line) for line in lines.splitlines() if line.startswith("{")):
        records.setdefault(record["student"], []).append(record)
    hand_in_odd(school)
    nbgrader("db", "assignment", "add", ASSIGNMENT, f"--duedate={DUE}")
    broken = "--Autograde.autograde_preprocessors=['no.such.Preprocessor']"
    nbgrader("autograde", ASSIGNMENT, f"--student={ABORTED}", broken, status=1)
    log = nbgrader("autograde", ASSIGNMENT)
    first = marks(school)
    with gradebook(school) as found:
        found.find_grade("check-transpose_qkv", ASSIGNMENT, ASSIGNMENT, AGAIN).manual_score = 2.5
        found.find_comment("transpose_qkv", ASSIGNMENT, ASSIGNMENT, AGAIN).manual_comment = "seen"
        found.db.commit()
    again = ("autograde", ASSIGNMENT, f"--student={AGAIN}", "--force", "--Headway.sandbox=basic")
    nbgrader(*again)
    refused = marks(school)
    nbgrader(*again, "--Headway.trusted_submissions=True")
    trusted = marks(school)
    nbgrader("generate_feedback", ASSIGNMENT)
    nbgrader("export")
    return Walk(school, log, first, refused, trusted, records)


def hand_in(school: School) -> None:
    """Write the submissions of CLASS."""
    book, submitted = school.released(), school.course / "submitted"
    for student, made in CLASS.items():
        place = submitted / student / ASSIGNMENT
        place.mkdir(parents=True)
        files = made.files(json.loads(json.dumps(book)))
        for name, content in files.items():
            write(school, place / name, content)
        if files and not any(place.iterdir()):
            place.rmdir()


def hand_in_odd(school: School) -> None:
    """Write the submissions of HOSTILE, forged stores, links, times, and files that nbgrader cannot copy."""
    book, submitted = school.released(), school.course / "submitted"
    for kind, source in HOSTILE.items():
        write(school, submitted / kind / ASSIGNMENT / NAME, answered(book, source))
    plant_stores(submitted)
    right = submitted / "a-right" / ASSIGNMENT
    (submitted / "l-file" / ASSIGNMENT).mkdir(parents=True)
    (submitted / "l-file" / ASSIGNMENT / NAME).symlink_to(right / NAME)
    (submitted / "l-folder").mkdir()
    (submitted / "l-folder" / ASSIGNMENT).symlink_to(right)
    (submitted / "l-student").symlink_to(right.parent)
    (right / "notes.txt").write_text("mine", "utf-8")
    (right / "dangling").symlink_to("nowhere")
    (right / "secret.txt").symlink_to(school.course / "headway_config.py")
    os.mkfifo(right / "pipe")
    (right / MANIFEST_FILE).mkdir()
    (right / "timestamp.txt").write_text("the day before yesterday", "utf-8")
    late = DUE.replace("18:00:00", f"18:00:{SECONDS_LATE}")
    (submitted / "z-right" / ASSIGNMENT / "timestamp.txt").write_text(late, "utf-8")


def write(school: School, path: Path, content: Book | bytes) -> None:
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    data = data.replace(b"/@COURSE@", bytes(school.course)).replace(b"/@SEED@", bytes(school.seed))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def gradebook(school: School) -> Gradebook:
    return Gradebook(f"sqlite:///{school.course / 'gradebook.db'}")


def marks(school: School) -> Marks:
    found: Marks = {}
    with gradebook(school) as book:
        for submission in book.assignment_submissions(ASSIGNMENT):
            (notebook,) = submission.notebooks
            grades = {grade.name: grade for grade in notebook.grades}
            comments = {comment.name: comment for comment in notebook.comments}
            for name in EXERCISES:
                grade, comment = grades[f"check-{name}"], comments[name]
                found[submission.student_id, name] = Mark(
                    grade.auto_score,
                    grade.manual_score,
                    grade.needs_manual_grade,
                    comment.auto_comment,
                    comment.manual_comment,
                )
    return found

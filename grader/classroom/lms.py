"""Marks for the gradebooks of Canvas and Moodle: one row per student, one column per assignment.

The columns that identify a student come from the class list (`--students`); without one, the name of the student's
folder or file is the login.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.classroom.roster import Person
from grader.classroom.spreadsheet_cells import csv_text
from grader.intake.course_file import CourseFile
from grader.report.model import ExerciseResult, total
from grader.report.shared_sentences import outcome_name, plain_number, reason
from grader.support.i18n import _

if TYPE_CHECKING:
    from grader.classroom.class_run import GradedSubmission


DEFAULTS = CourseFile()


@dataclass
class _Student:
    person: Person
    results: dict[str, list[ExerciseResult]] = field(default_factory=dict)  # assignment → its exercises
    ungraded: bool = False  # a file of the student could not be graded, by a fault of the grader
    problems: list[str] = field(default_factory=list)  # why files, or a folder without any, were not graded

    def column(self, *names: str) -> str:
        """Return the first cell that is not empty in these columns of the class list; "" if there is none."""
        return next((self.person.columns[name] for name in names if self.person.columns.get(name)), "")

    def score(self, assignment: str, missing: str) -> str:
        """Return the points; "" while something could not be graded, so that no import writes a zero.

        missing: "zero" if a student who submitted nothing gets 0 points, "blank" for "".
        """
        results = self.results.get(assignment, [])
        nothing = not results and (self.ungraded or self.problems or missing == "blank")
        if nothing or any(result.score is None for result in results):
            return ""
        return plain_number(total(result.score or 0.0 for result in results))

    def feedback(self, assignment: str) -> str:
        if assignment not in self.results:
            nothing = " | ".join(self.problems) or _("nothing was submitted")
            return _("could not be graded") if self.ungraded else nothing
        return " | ".join(
            _("{exercise}: {outcome}. {reason}").format(
                exercise=result.name, outcome=outcome_name(result.outcome), reason=reason(result)
            )
            for result in self.results[assignment]
        )


@dataclass(frozen=True)
class _Class:
    students: Sequence[_Student]
    assignments: dict[str, float]  # name → the points that it is worth


def _by_student(submissions: Sequence[GradedSubmission]) -> _Class:
    students: dict[str, _Student] = {}
    worth: dict[str, dict[str, float]] = {}  # assignment → exercise → points
    for one in submissions:
        student = students.setdefault(one.student, _Student(one.person or Person(one.student)))
        student.ungraded |= one.grader_failed
        student.problems += [one.problem] if one.submission and not one.report.exercises else []
        for result in one.report.exercises:
            student.results.setdefault(result.assignment, []).append(result)
            worth.setdefault(result.assignment, {})[result.name] = result.points
    return _Class(
        [*students.values()], {name: total(points.values()) for name, points in sorted(worth.items())}
    )


def canvas(submissions: Sequence[GradedSubmission], settings: CourseFile = DEFAULTS) -> str:
    """Return CSV for "Import" in Canvas's gradebook.

    Canvas finds an assignment by its title, "Masking" or "Masking (4711)", and makes a new one for any other title.
    Columns as in https://community.canvaslms.com/t5/Instructor-Guide/How-do-I-import-grades-in-the-Gradebook/ta-p/807:
    Student, ID, SIS User ID, SIS Login ID, Section, then assignments; a second row has the points possible.
    """
    found = _by_student(submissions)
    rows = [
        [
            "Student",
            "ID",
            "SIS User ID",
            "SIS Login ID",
            "Section",
            *(settings.canvas.get(n, n) for n in found.assignments),
        ],
        ["    Points Possible", "", "", "", "", *map(plain_number, found.assignments.values())],
    ]
    for student in found.students:
        last, first = student.column("last_name"), student.column("first_name")
        name = f"{last}, {first}" if last and first else student.person.name
        ids = [student.column("canvas_id"), student.column("sis_user_id")]
        login = student.column("sis_login_id", "login", "email") or student.person.id
        scores = [student.score(assignment, settings.missing) for assignment in found.assignments]
        rows.append([name, *ids, login, student.person.section, *scores])
    return csv_text(rows)


def moodle(submissions: Sequence[GradedSubmission], settings: CourseFile = DEFAULTS) -> str:
    """Return CSV for "Import → CSV file" in Moodle's gradebook.

    https://docs.moodle.org/405/en/Grade_import: one column identifies the user (username, ID number or e-mail
    address), and the import maps the others. Each assignment has a column for grades, too: an import of feedback
    alone removes grades.
    """
    found = _by_student(submissions)
    head = ["username", "ID number", "Email address", "First name", "Last name"]
    marks = [(name, _("{name} (feedback)").format(name=name)) for name in found.assignments]
    rows = [[*head, *(column for pair in marks for column in pair)]]
    for student in found.students:
        ids = [student.column("username") or student.person.id, student.column("idnumber", "id_number")]
        names = [student.person.email, student.column("first_name"), student.column("last_name")]
        cells = [
            (student.score(name, settings.missing), student.feedback(name)) for name in found.assignments
        ]
        rows.append([*ids, *names, *(cell for pair in cells for cell in pair)])
    return csv_text(rows)

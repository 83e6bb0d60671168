"""Results for learning platforms: the gradebooks of Canvas and Moodle, and what Gradescope and PrairieLearn read.

In a gradebook, the columns that identify a student come from the class list (`--students`); without one, the name of
the student's folder or file is the login.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from grader.classroom.roster import Person
from grader.classroom.spreadsheet_cells import csv_text
from grader.intake.course_file import CourseFile
from grader.report.model import ExerciseResult, Report, total
from grader.report.shared_sentences import (
    advice_lines,
    diagnosis_lead,
    facet_name,
    outcome_name,
    plain_number,
    reason,
)
from grader.support.i18n import _

if TYPE_CHECKING:
    from grader.classroom.class_run import GradedSubmission

DEFAULTS = CourseFile()
MAX_OUTPUT = 50_000  # characters of one test for PrairieLearn; the whole file may have 1 MB


# ---- gradebooks: one row per student, one or two columns per assignment


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


def _class(submissions: Iterable[GradedSubmission]) -> tuple[list[_Student], dict[str, float]]:
    """Return the students, and assignment → the points that it is worth."""
    students: dict[str, _Student] = {}
    worth: dict[str, dict[str, float]] = {}  # assignment → exercise → points
    for one in submissions:
        student = students.setdefault(one.student, _Student(one.person or Person(one.student)))
        student.ungraded |= one.grader_failed
        student.problems += [one.problem] if one.submission and not one.report.exercises else []
        for result in one.report.exercises:
            student.results.setdefault(result.assignment, []).append(result)
            worth.setdefault(result.assignment, {})[result.name] = result.points
    return [*students.values()], {name: total(points.values()) for name, points in sorted(worth.items())}


def canvas(submissions: Sequence[GradedSubmission], settings: CourseFile = DEFAULTS) -> str:
    """Return CSV for "Import" in Canvas's gradebook.

    Canvas finds an assignment by its title, "Masking" or "Masking (4711)", and makes a new one for any other title.
    Columns as in https://community.canvaslms.com/t5/Instructor-Guide/How-do-I-import-grades-in-the-Gradebook/ta-p/807:
    Student, ID, SIS User ID, SIS Login ID, Section, then assignments; a second row has the points possible.
    """
    students, worth = _class(submissions)
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    rows = [
        [*head, *(settings.canvas.get(name, name) for name in worth)],
        ["    Points Possible", "", "", "", "", *map(plain_number, worth.values())],
    ]
    for student in students:
        last, first = student.column("last_name"), student.column("first_name")
        name = f"{last}, {first}" if last and first else student.person.name
        ids = [student.column("canvas_id"), student.column("sis_user_id")]
        login = student.column("sis_login_id", "login", "email") or student.person.id
        scores = [student.score(assignment, settings.missing) for assignment in worth]
        rows.append([name, *ids, login, student.person.section, *scores])
    return csv_text(rows)


def moodle(submissions: Sequence[GradedSubmission], settings: CourseFile = DEFAULTS) -> str:
    """Return CSV for "Import → CSV file" in Moodle's gradebook.

    https://docs.moodle.org/405/en/Grade_import: one column identifies the user (username, ID number or e-mail
    address), and the import maps the others. Each assignment has a column for grades, too: an import of feedback
    alone removes grades.
    """
    students, worth = _class(submissions)
    head = ["username", "ID number", "Email address", "First name", "Last name"]
    marks = [column for name in worth for column in (name, _("{name} (feedback)").format(name=name))]
    rows = [[*head, *marks]]
    for student in students:
        ids = [student.column("username") or student.person.id, student.column("idnumber", "id_number")]
        names = [student.person.email, student.column("first_name"), student.column("last_name")]
        cells = [cell for a in worth for cell in (student.score(a, settings.missing), student.feedback(a))]
        rows.append([*ids, *names, *cells])
    return csv_text(rows)


# ---- one submission as a `results.json`, with one test per exercise


def gradescope(report: Report) -> str:
    """Return the report as https://gradescope-autograders.readthedocs.io wants it.

    An exercise that could not be graded has no score and costs no points.
    """

    def test(result: ExerciseResult) -> dict[str, Any]:
        status = "passed" if result.outcome == "passed" else "failed"
        graded = {"score": result.score, "max_score": result.points, "status": status}
        return {
            "name": f"{result.assignment} {result.name}",
            **(graded if result.score is not None else {}),
            "output": _output(result),
            "output_format": "text",
        }

    graded = _("Graded by Headway {version}, sandbox {tier}.")
    return _json(
        {
            "output": graded.format(version=report.grader, tier=report.sandbox),
            "output_format": "text",
            "execution_time": round(sum(result.seconds for result in report.exercises)),
            "visibility": "visible",
            "stdout_visibility": "hidden",
            "score": report.score,
            "tests": [test(result) for result in report.exercises],
            "extra_data": {"sandbox": report.sandbox, "seed": report.seed, "torch": report.torch},
        }
    )


def prairielearn(report: Report) -> str:
    """Return the report as https://docs.prairielearn.com/externalGrading/#grading-results wants it.

    If the grader could not grade an exercise, or there is nothing to grade, the submission is marked as not gradable.
    PrairieLearn then ignores the score, and the student loses no attempt.
    """
    ungraded = [result for result in report.exercises if result.score is None]
    if ungraded or not report.exercises or not report.points:
        why = [result.message for result in ungraded] or [*report.remarks]
        return _json({"gradable": False, "format_errors": why}) + "\n"
    tests = [
        {
            "name": f"{result.assignment} {result.name}",
            "points": result.score,
            "max_points": result.points,
            "message": outcome_name(result.outcome),
            "output": _output(result)[:MAX_OUTPUT],
        }
        for result in report.exercises
    ]
    share = round(min(1.0, report.score / report.points), 6)
    return _json({"gradable": True, "score": share, "tests": tests}) + "\n"


def _json(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, indent=1)


def _output(result: ExerciseResult) -> str:
    lead, says = diagnosis_lead(result.diagnosis.kind), result.diagnosis.says
    lines = [outcome_name(result.outcome), result.message, f"{lead}: {says}" if lead else says]
    for check in result.checks:
        line = f"{outcome_name(check.outcome)}  {facet_name(check.facet)}: {check.title}  {check.message}"
        lines.append(line.rstrip())
    advice = _("advice, which costs no points: {advice}")
    lines += [advice.format(advice=": ".join(advice_lines(one))) for one in result.advice]
    return "\n".join(filter(None, [*lines, *result.remarks]))


GRADEBOOKS = {"canvas": canvas, "moodle": moodle}
OF_ONE_SUBMISSION = {"gradescope": gradescope, "prairielearn": prairielearn}

"""A class as text in one of several formats, those of learning platforms among them.

To add a format, write a function from graded submissions to str and add it to FORMATS. In a gradebook, the columns that
identify a student come from the class list (`--students`); without one, the name of the student's folder or file is
the login.
"""

from __future__ import annotations

import io
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console

from grader.classroom.class_run import GradedSubmission
from grader.classroom.pages import page
from grader.classroom.roster import Person
from grader.classroom.terminal import show
from grader.intake.course import CourseFile
from grader.report.ci import junit_of_many
from grader.report.model import ExerciseResult, Points, Report, to_json, total
from grader.report.shared_sentences import (
    advice_lines,
    diagnosis_lead,
    facet_name,
    outcome_name,
    plain_number,
    reason,
)
from grader.support.errors import GraderError
from grader.support.i18n import _

DEFAULTS = CourseFile()
MAX_OUTPUT = 50_000  # characters of one test for PrairieLearn; the whole file may have 1 MB


def text(submissions: Sequence[GradedSubmission]) -> str:
    """Return the class report without colours."""
    plain_text = io.StringIO()
    show(submissions, Console(file=plain_text, width=110, no_color=True, highlight=False))
    return plain_text.getvalue()


def jsonl(submissions: Sequence[GradedSubmission]) -> str:
    """Return one line per submission: the JSON of `grader check`, with student, submission and content (its hash)."""
    return "".join(json.dumps(to_json(one.report), ensure_ascii=False) + "\n" for one in submissions)


def table(submissions: Sequence[GradedSubmission]) -> str:
    """Return CSV: one row per submission, five columns per exercise. No spreadsheet reads a cell as a formula.

    Students without a submission have a row if there is a class list. Points are blank if nothing was graded.
    """
    columns = list(dict.fromkeys((r.assignment, r.name) for one in submissions for r in one.report.exercises))
    names = [name for _assignment, name in sorted(columns)]
    listed = any(one.person for one in submissions)
    person = ["name", "section"] if listed else []
    graded = (half for one in submissions if one.report.exercises for half in one.report.halves)
    halves = sorted({half.second for half in graded}) or [False]
    numbers = ["score", "points", "second half score", "second half points"][: 2 * len(halves)]
    head = ["student", *person, "submission", "content", "sandbox", *numbers, "remark"]
    rows = [head + [f"{name}{part}" for name in names for part in _PARTS]]
    for one in submissions:
        report, results = one.report, {r.name: r for r in one.report.exercises}
        where = [one.submission, report.extra["content"], report.sandbox]
        found = {half.second: half for half in report.halves} if results else {}
        points = [cell for second in halves for cell in _points(found.get(second))]
        total = [*points, one.problem]
        who = [one.person.name, one.person.section] if one.person else [""] * len(person)
        cells = [cell for name in names for cell in _cells(results.get(name))]
        rows.append([one.student, *who, *where, *total, *cells])
    return csv_text(rows)


def _points(half: Points | None) -> list[str]:
    return [plain_number(half.score), plain_number(half.points)] if half else ["", ""]


_PARTS = ("", " outcome", " mistake", " advice", " reason")  # after the name of an exercise


def _cells(result: ExerciseResult | None) -> list[str]:
    if result is None:
        return [""] * len(_PARTS)
    mistakes = " or ".join(" + ".join(ids) for ids in result.diagnosis.alternatives)
    advice = " + ".join(one.policy for one in result.advice)
    score = "" if result.score is None else plain_number(result.score)
    return [score, result.outcome, mistakes, advice, reason(result)]


def junit(submissions: Sequence[GradedSubmission]) -> str:
    """Return one JUnit document; the names of its suites begin with the student's name."""
    return junit_of_many([(f"{one.student}.", one.report) for one in submissions])


# Where a program may begin a new cell, if it expects another separator than a comma.
_SEPARATORS = re.compile("([;\t\n\v\f\r\x85\u2028\u2029])")
_BEGINS = frozenset("=+-@|%\uff1d\uff0b\uff0d\uff20")  # the last four: full-width = + - @
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?(e[+-]?\d+)?", re.ASCII)


def csv_text(rows: Iterable[Sequence[str]]) -> str:
    """Return rows as CSV. Each cell is in quotes, except empty ones: in a gradebook these are no value."""
    return "".join(",".join(map(_quoted, row)) + "\r\n" for row in rows)


def _quoted(cell: str) -> str:
    return '"' + plain(cell).replace('"', '""') + '"' if cell else ""


def plain(cell: str) -> str:
    """Put an apostrophe before each part of a cell that begins like a formula, so that no spreadsheet computes it.

    Parts are what a spreadsheet with another separator takes for cells. Plain numbers stay as they are.
    """
    return "".join(f"'{part}" if _begins_formula(part) else part for part in _SEPARATORS.split(cell))


def _begins_formula(part: str) -> bool:
    first = next((char for char in part if not _is_skipped(char)), "")
    return first in _BEGINS and not _NUMBER.fullmatch(part)


def _is_skipped(char: str) -> bool:
    return char.isspace() or char == '"' or unicodedata.category(char) in ("Cc", "Cf")


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


def gradescope(submissions: Sequence[GradedSubmission]) -> str:
    """Return the report as https://gradescope-autograders.readthedocs.io wants it.

    An exercise that could not be graded has no score and costs no points.
    """
    report = _only_report(submissions, "gradescope")

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


def prairielearn(submissions: Sequence[GradedSubmission]) -> str:
    """Return the report as https://docs.prairielearn.com/externalGrading/#grading-results wants it.

    If the grader could not grade an exercise, or there is nothing to grade, the submission is marked as not gradable.
    PrairieLearn then ignores the score, and the student loses no attempt.
    """
    report = _only_report(submissions, "prairielearn")
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


def _only_report(submissions: Sequence[GradedSubmission], form: str) -> Report:
    if len(submissions) != 1:
        says = _("the format {form} is for exactly one submission; there are {n} here")
        raise GraderError(says.format(form=form, n=len(submissions)))
    return submissions[0].report


def written(form: str, submissions: Sequence[GradedSubmission], settings: CourseFile) -> str:
    """Return the class in a format; the settings of the course are for gradebooks."""
    gradebook = GRADEBOOKS.get(form)
    return gradebook(submissions, settings) if gradebook else FORMATS[form](submissions)


GRADEBOOKS = {"canvas": canvas, "moodle": moodle}
FORMATS: dict[str, Callable[[Sequence[GradedSubmission]], str]] = {
    "text": text,
    "html": page,
    "jsonl": jsonl,
    "csv": table,
    **GRADEBOOKS,
    "gradescope": gradescope,
    "prairielearn": prairielearn,
    "junit": junit,
}

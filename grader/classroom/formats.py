"""A class as text in one of several formats.

To add a format, write a function from graded submissions to str and add it to FORMATS.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from grader.classroom.learning_platforms import GRADEBOOKS, OF_ONE_SUBMISSION
from grader.classroom.pages import page
from grader.classroom.spreadsheet_cells import csv_text
from grader.intake.course_file import CourseFile
from grader.report.ci import junit_of_many
from grader.report.model import ExerciseResult, Report, to_json
from grader.report.shared_sentences import plain_number, reason
from grader.support.errors import GraderError
from grader.support.i18n import _

if TYPE_CHECKING:
    from grader.classroom.class_run import GradedSubmission


def text(submissions: Sequence[GradedSubmission]) -> str:
    """Return the class report without colours."""
    from rich.console import Console

    from grader.classroom.terminal import show

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
    head = ["student", *person, "submission", "content", "sandbox", "score", "points", "remark"]
    rows = [head + [f"{name}{part}" for name in names for part in _PARTS]]
    for one in submissions:
        report, results = one.report, {r.name: r for r in one.report.exercises}
        where = [one.submission, report.extra["content"], report.sandbox]
        numbers = [plain_number(report.score), plain_number(report.points)] if results else ["", ""]
        total = [*numbers, one.problem]
        who = [one.person.name, one.person.section] if one.person else [""] * len(person)
        cells = [cell for name in names for cell in _cells(results.get(name))]
        rows.append([one.student, *who, *where, *total, *cells])
    return csv_text(rows)


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


def _of_one(form: str, write: Callable[[Report], str]) -> Callable[[Sequence[GradedSubmission]], str]:
    """Return the function for a format of one submission; it raises GraderError for any other number."""

    def written(submissions: Sequence[GradedSubmission]) -> str:
        if len(submissions) != 1:
            says = _("the format {form} is for exactly one submission; there are {n} here")
            raise GraderError(says.format(form=form, n=len(submissions)))
        return write(submissions[0].report)

    return written


def written(form: str, submissions: Sequence[GradedSubmission], settings: CourseFile) -> str:
    """Return the class in a format; the settings of the course are for gradebooks."""
    if form in GRADEBOOKS:
        return GRADEBOOKS[form](submissions, settings)
    return FORMATS[form](submissions)


FORMATS: dict[str, Callable[[Sequence[GradedSubmission]], str]] = {
    "text": text,
    "html": page,
    "jsonl": jsonl,
    "csv": table,
    **GRADEBOOKS,
    **{form: _of_one(form, write) for form, write in OF_ONE_SUBMISSION.items()},
    "junit": junit,
}

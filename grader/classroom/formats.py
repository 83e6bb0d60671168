"""A class as a file: JSON Lines, CSV, HTML, JUnit XML, and Gradescope's results.json for a single submission."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence

from grader.classroom.class_run import GradedSubmission
from grader.report.model import ExerciseResult, to_json
from grader.support.i18n import _


class NotInThisForm(ValueError):
    """The entries cannot be written in the form asked for; the message is a sentence."""


def jsonl(entries: Sequence[GradedSubmission]) -> str:
    """A record a line, each as `grader check --format json` gives it, with student, submission and content."""
    return "".join(json.dumps(to_json(entry.report), ensure_ascii=False) + "\n" for entry in entries)


def table(entries: Sequence[GradedSubmission]) -> str:
    """CSV for a spreadsheet: a row a submission, three columns an exercise. No cell is taken for a formula."""
    columns = list(dict.fromkeys((r.assignment, r.name) for e in entries for r in e.report.exercises))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    head = ["student", "submission", "content", "sandbox", "score", "points", "remark"]
    writer.writerow(
        head + [f"{name}{part}" for _a, name in sorted(columns) for part in ("", " outcome", " mistake")]
    )
    for entry in entries:
        report, results = entry.report, {r.name: r for r in entry.report.exercises}
        row = [
            entry.student,
            entry.submission,
            report.extra["content"],
            report.sandbox,
            _number(report.score),
            _number(report.points),
            entry.problem,
        ]
        writer.writerow(
            [
                plain(cell)
                for cell in row + [cell for _a, name in sorted(columns) for cell in _cells(results.get(name))]
            ]
        )
    return out.getvalue()


def _cells(result: ExerciseResult | None) -> list[str]:
    if result is None:
        return ["", "", ""]
    mistakes = " or ".join(" + ".join(ids) for ids in result.diagnosis.alternatives)
    return ["" if result.score is None else _number(result.score), result.outcome, mistakes]


def _number(value: float) -> str:
    return f"{round(value, 6):g}"


def plain(cell: str) -> str:
    """A cell that no spreadsheet computes: one that begins like a formula gets an apostrophe before it."""
    return (
        f"'{cell}"
        if cell.lstrip(" \n\u00a0\u3000")[:1] in tuple("=+-@\t\r|%\uff1d\uff0b\uff0d\uff20") and cell.strip()
        else cell
    )


def junit(entries: Sequence[GradedSubmission]) -> str:
    """One document; the suites bear the student's name."""
    from grader.report.junit import junit_of_many

    return junit_of_many([(f"{entry.student}.", entry.report) for entry in entries])


def html(entries: Sequence[GradedSubmission]) -> str:
    """The class report as a page for a browser."""
    from grader.classroom.html_page import page

    return page(entries)


def gradescope(entries: Sequence[GradedSubmission]) -> str:
    """Gradescope's results.json is about one submission. Raises NotInThisForm for any other number."""
    from grader.report.gradescope import gradescope

    if len(entries) != 1:
        raise NotInThisForm(
            _("Gradescope's form is for exactly one submission; there are {n} here").format(n=len(entries))
        )
    return gradescope(entries[0].report)


FORMS: dict[str, Callable[[Sequence[GradedSubmission]], str]] = {
    "jsonl": jsonl,
    "csv": table,
    "gradescope": gradescope,
    "html": html,
    "junit": junit,
}

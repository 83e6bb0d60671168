"""The report for GitHub: annotations beside the files, and a table on the summary page of the run."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

from grader.report.model import Advice, ExerciseResult, Report
from grader.report.shared_sentences import advice_lines, outcome_name, points, reason, total_points
from grader.support.errors import CannotWrite
from grader.support.i18n import _

SUMMARY = "GITHUB_STEP_SUMMARY"  # names the file that GitHub shows as the summary of a step
_LEVELS = {
    "failed": "error",
    "blocked": "error",
    "other_interface": "error",
    "could_not_grade": "warning",
}
_MARKS = {
    "passed": "✅",
    "failed": "❌",
    "blocked": "❌",
    "other_interface": "❌",
    "could_not_grade": "⚠️",
    "not_started": "⬜",
}


def commands(report: Report) -> str:
    """Return a workflow command per exercise that was begun and did not pass, one per advice and one per remark on a
    file, then the points.
    """
    lines = [_annotation(result) for result in report.exercises if result.outcome in _LEVELS]
    lines += [_advice(result, one) for result in report.exercises for one in result.advice]
    lines += [f"::notice::{_escaped(remark)}" for remark in report.remarks]
    return "\n".join([*lines, total_points(report)])


def exit_status(report: Report) -> int:
    """Return the exit status for a push: exercises that are not started yet are no failure."""
    begun = tuple(result for result in report.exercises if result.outcome != "not_started")
    return replace(report, exercises=begun).exit_status


def table(report: Report) -> str:
    """Return a table in Markdown: one row per exercise, with its first problem."""
    head = [_("exercise"), _("outcome"), _("points"), _("problem")]
    rows = [f"| {' | '.join(head)} |", "|---|---|--:|---|"]
    rows += [f"| {' | '.join(map(_cell, _fields(result)))} |" for result in report.exercises]
    remarks = [_cell(remark) for remark in report.remarks]
    return "\n".join([f"**{total_points(report)}**", "", *rows, "", *remarks]).rstrip() + "\n"


def add_to_summary(report: Report) -> None:
    """Append the table to the summary of the workflow step; do nothing outside a workflow. Raises CannotWrite."""
    path = os.environ.get(SUMMARY)
    if path:
        try:
            with Path(path).open("a", encoding="utf-8") as file:
                file.write(table(report))
        except OSError as error:
            says = _("{file}, which ${name} names, cannot be written: {reason}")
            raise CannotWrite(says.format(file=path, name=SUMMARY, reason=error.strerror)) from None


def _fields(result: ExerciseResult) -> tuple[str, str, str, str]:
    outcome = f"{_MARKS[result.outcome]} {outcome_name(result.outcome)}"
    return (
        f"{result.assignment[:2]} {result.name}",
        outcome,
        points(result.score, result.points),
        _problem(result),
    )


def _problem(result: ExerciseResult) -> str:
    """Return why an exercise did not pass, else its advice."""
    return reason(result) or " ".join(_said(one) for one in result.advice)


def _said(advice: Advice) -> str:
    return _("advice: {advice}").format(advice=": ".join(advice_lines(advice)))


def _advice(result: ExerciseResult, advice: Advice) -> str:
    return _command("notice", result, _("advice"), _said(advice), _said(advice))


def _annotation(result: ExerciseResult) -> str:
    said = _problem(result) or outcome_name(result.outcome)
    # `_command` takes the first line that is named. The line of `Code` is last: other lines come before it.
    line_of_code = f"{result.code.file}, line {result.code.line}" if result.code else ""
    places = f"{said} {' '.join(c.message + c.where for c in result.checks)} {line_of_code}"
    return _command(_LEVELS[result.outcome], result, outcome_name(result.outcome), said, places)


def _command(level: str, result: ExerciseResult, title: str, said: str, places: str) -> str:
    """Return a workflow command at the first line of the exercise's file that `places` names."""
    module = result.assignment.split("_", 1)[-1]
    line = re.search(rf"\b{re.escape(module)}\.py, line (\d{{1,7}})", places)
    place = {
        "file": f"{result.assignment}/{module}.py",
        "line": line[1] if line else "",
        "title": f"{result.name}: {title}",
    }
    fields = ",".join(f"{name}={_escaped(value, property=True)}" for name, value in place.items() if value)
    return f"::{level} {fields}::{_escaped(said)}"


def _escaped(text: str, property: bool = False) -> str:
    """Escape text from a student's code, so that it cannot become a workflow command.

    property: also escape the signs that end a property, such as the title.
    """
    escapes = [("%", "%25"), ("\r", "%0D"), ("\n", "%0A")]  # % comes first: the codes contain it
    if property:
        escapes += [(":", "%3A"), (",", "%2C")]
    for sign, code in escapes:
        text = text.replace(sign, code)
    return text


def _cell(text: str) -> str:
    """Escape text for one cell of a table in Markdown."""
    return re.sub(r"([\\`*_<>|\[\]])", r"\\\1", " ".join(text.split()))

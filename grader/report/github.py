"""What GitHub shows of a run: annotations beside the files, and a table on the run's summary page."""

from __future__ import annotations

import os
import re
from pathlib import Path

from grader.report.model import ExerciseResult, Report
from grader.report.terminal import points, word
from grader.support.i18n import _

SUMMARY = "GITHUB_STEP_SUMMARY"  # names the file that GitHub shows as the summary of a step
_LEVELS = {"failed": "error", "blocked": "error", "could_not_grade": "warning", "not_started": "notice"}
_MARKS = {"passed": "✅", "failed": "❌", "blocked": "❌", "could_not_grade": "⚠️", "not_started": "⬜"}


def commands(report: Report) -> str:
    """A workflow command for every exercise that is not passed, then the score as plain text."""
    lines = [_annotation(result) for result in report.exercises if result.outcome in _LEVELS]
    return "\n".join([*lines, _("{score} points").format(score=points(report.score, report.points))])


def table(report: Report) -> str:
    """The report as a table in Markdown: a row an exercise, and what the first fault of each is."""
    head = [_("exercise"), _("outcome"), _("points"), _("what")]
    rows = [f"| {' | '.join(head)} |", "|---|---|--:|---|"]
    rows += [f"| {' | '.join(map(_cell, _row(result)))} |" for result in report.exercises]
    total = _("{score} points").format(score=points(report.score, report.points))
    return (
        "\n".join([f"**{total}**", "", *rows, "", *(_cell(remark) for remark in report.remarks)]).rstrip()
        + "\n"
    )


def add_to_summary(report: Report) -> None:
    """Append the table to the summary of the step, where there is one."""
    path = os.environ.get(SUMMARY)
    if path:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(table(report))


def _row(result: ExerciseResult) -> tuple[str, str, str, str]:
    outcome = f"{_MARKS[result.outcome]} {word(result.outcome)}"
    return (
        f"{result.assignment[:2]} {result.name}",
        outcome,
        points(result.score, result.points),
        _what(result),
    )


def _what(result: ExerciseResult) -> str:
    """One sentence: what the answer equals, else the first check that failed, else why there was none."""
    first = next((c for c in result.checks if c.outcome not in ("passed", "skipped")), None)
    return result.diagnosis.says or (f"{first.title}: {first.message}" if first else result.message)


def _annotation(result: ExerciseResult) -> str:
    module = result.assignment.split("_", 1)[-1]
    said = _what(result) or word(result.outcome)
    line = re.search(
        rf"\b{re.escape(module)}\.py, line (\d{{1,7}})",
        f"{said} {' '.join(c.message + c.where for c in result.checks)}",
    )
    place = {
        "file": f"{result.assignment}/{module}.py",
        "line": line[1] if line else "",
        "title": f"{result.name}: {word(result.outcome)}",
    }
    fields = ",".join(f"{name}={_escaped(value, property=True)}" for name, value in place.items() if value)
    return f"::{_LEVELS[result.outcome]} {fields}::{_escaped(said)}"


def _escaped(text: str, property: bool = False) -> str:
    """What a student's code says must not become a command of its own."""
    for sign, code in (
        ("%", "%25"),
        ("\r", "%0D"),
        ("\n", "%0A"),
        *(((":", "%3A"), (",", "%2C")) if property else ()),
    ):
        text = text.replace(sign, code)
    return text


def _cell(text: str) -> str:
    """Text that stays in its cell, and is no markup."""
    return re.sub(r"([\\`*_<>|\[\]])", r"\\\1", " ".join(text.split()))

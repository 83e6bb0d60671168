"""Make the outputs of a graded cell and the comment on a solution cell from one result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nbformat.v4 import new_output

from grader.report.html import fragment
from grader.report.model import Advice, ExerciseResult, Report
from grader.report.shared_sentences import advice_lines, outcome_name, reason
from grader.report.terminal import plain
from grader.support.i18n import _


@dataclass(frozen=True)
class Verdict:
    """The part of a result that SaveGrades needs.

    score: of a graded cell, None if a person has to grade it; always None for a solution cell.
    comment: on a solution cell; always "" for a graded cell.
    """

    score: float | None
    comment: str


def outputs(report: Report) -> list[Any]:
    """Return the outputs of a graded cell: the report of its exercise, then the points as a plain float.

    nbgrader reads partial credit from that float. For an exercise that could not be graded, it is left out.
    """
    text = plain(report, full=False).rstrip()
    shown = new_output("display_data", {"text/html": fragment(report), "text/plain": text})
    score = report.exercises[0].score
    if score is None:
        return [shown]
    return [shown, new_output("execute_result", {"text/plain": repr(float(score))}, execution_count=1)]


def comment_on(result: ExerciseResult) -> str:
    """Return one paragraph for the student about a solution; "" for a right one without advice and remarks."""
    advice = [_advice(one) for one in result.advice]
    if result.outcome == "passed":
        return _shown([*advice, *result.remarks])
    why = reason(result)
    outcome = outcome_name(result.outcome)
    said = [f"{outcome}: {why}" if why else outcome, *advice, *result.remarks]
    if result.outcome == "could_not_grade":
        said.append(_("No points are deducted."))
    return _shown(said)


def _advice(advice: Advice) -> str:
    return _("advice, which costs no points: {advice}").format(advice=": ".join(advice_lines(advice)))


def _shown(said: Sequence[str]) -> str:
    return ". ".join(said).replace("<", "‹").replace(">", "›")

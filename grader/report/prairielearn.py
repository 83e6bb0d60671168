"""PrairieLearn's `results.json`: a share of the points and one test per exercise.

Fields as in https://docs.prairielearn.com/externalGrading/#grading-results.
"""

from __future__ import annotations

import json
from typing import Any

from grader.report.gradescope import output
from grader.report.model import ExerciseResult, Report
from grader.report.shared_sentences import outcome_name

MAX_OUTPUT = 50_000  # characters of one test; the whole file may have 1 MB


def prairielearn(report: Report) -> str:
    """Return the report as one JSON object.

    If the grader could not grade an exercise, or there is nothing to grade, the submission is marked as not gradable.
    PrairieLearn then ignores the score, and the student loses no attempt.
    """
    ungraded = [result for result in report.exercises if result.score is None]
    if ungraded or not report.exercises or not report.points:
        why = [result.message for result in ungraded] or [*report.remarks]
        return _json({"gradable": False, "format_errors": why})
    share = round(min(1.0, report.score / report.points), 6)
    return _json({"gradable": True, "score": share, "tests": [_test(result) for result in report.exercises]})


def _test(result: ExerciseResult) -> dict[str, Any]:
    return {
        "name": f"{result.assignment} {result.name}",
        "points": result.score,
        "max_points": result.points,
        "message": outcome_name(result.outcome),
        "output": output(result)[:MAX_OUTPUT],
    }


def _json(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, indent=1) + "\n"

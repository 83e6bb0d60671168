"""Results as text, for a store or a cache."""

from __future__ import annotations

import json

from grader.report.model import ExerciseResult
from grader.support.records import read


class BadResult(ValueError):
    """The text is not a stored result."""


def to_text(result: ExerciseResult) -> str:
    """Return a result as JSON with all its fields."""
    return json.dumps(result, default=vars)


def from_text(text: str) -> ExerciseResult:
    """Return the result that `to_text` wrote. Raises BadResult for any other text, or if it has a picture."""
    try:
        result: ExerciseResult = read(json.loads(text), ExerciseResult)
    except (ValueError, RecursionError) as error:
        raise BadResult(str(error)) from None
    no_score = result.score is None
    if no_score != (result.outcome == "could_not_grade") or not 0 <= (result.score or 0) <= result.points:
        raise BadResult("no such score")
    if result.picture:
        raise BadResult("a picture is never stored")
    return result

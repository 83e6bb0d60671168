"""Results as text, for a store or a cache."""

from __future__ import annotations

import json

import msgspec

from grader.report.model import ExerciseResult
from grader.support.errors import BadData

# Raise it if a field changes its meaning: results of another format are refused, or graded again.
FORMAT = 1


def to_text(result: ExerciseResult) -> str:
    """Return a result as JSON with all its fields."""
    return json.dumps(msgspec.to_builtins(result))  # msgspec writes NaN as null, and no lone surrogate


def from_text(text: str) -> ExerciseResult:
    """Return the result that `to_text` wrote. Raises BadData for any other text, or if it has a picture."""
    try:
        result = msgspec.json.decode(text, type=ExerciseResult)
    except (ValueError, RecursionError) as error:
        raise BadData(str(error)) from None
    no_score = result.score is None
    if no_score != (result.outcome == "could_not_grade") or not 0 <= (result.score or 0) <= result.points:
        raise BadData("no such score")
    if result.picture:
        raise BadData("a picture is never stored")
    return result

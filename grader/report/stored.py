"""Results read back from where they were kept. Whoever can write there can write anything: nothing is believed
that could not have been kept."""

from __future__ import annotations

import json
import math
from dataclasses import fields
from typing import Any, get_args

from grader.report.model import CheckOutcome, CheckResult, Diagnosis, ExerciseResult, Kind, Outcome

_NUMBER, _TEXT, _TEXT_OR_NONE = (int, float), (str,), (str, type(None))
_LITERALS: dict[tuple[str, str], tuple[str, ...]] = {
    ("ExerciseResult", "outcome"): get_args(Outcome),
    ("CheckResult", "outcome"): get_args(CheckOutcome),
    ("CheckResult", "visibility"): ("public", "hidden"),
    ("Diagnosis", "kind"): get_args(Kind),
}
_TYPES: dict[str, tuple[type, ...]] = {
    "score": (int, float, type(None)),
    "points": _NUMBER,
    "seconds": _NUMBER,
    "partial": (bool,),
    "expected": _TEXT_OR_NONE,
    "got": _TEXT_OR_NONE,
}
_NESTED = {"checks", "diagnosis", "remarks", "alternatives", "figures"}


class BadResult(ValueError):
    """The text is no result that was kept."""


def from_text(text: str) -> ExerciseResult:
    """A result that was written as JSON with all its fields. Raises BadResult for any other text.

    What is drawn is never kept, so a result with figures is refused too.
    """
    try:
        words = json.loads(text)
    except (ValueError, RecursionError):
        raise BadResult("not JSON") from None
    _require_form(words, ExerciseResult)
    _require_form(words["diagnosis"], Diagnosis)
    for check in _items(words["checks"]):
        _require_form(check, CheckResult)
    alternatives = tuple(_texts(names) for names in _items(words["diagnosis"]["alternatives"]))
    _require(words["figures"] == {}, "figures")
    _require_score(words)
    return ExerciseResult(
        **{
            **words,
            "checks": tuple(CheckResult(**check) for check in words["checks"]),
            "remarks": _texts(words["remarks"]),
            "diagnosis": Diagnosis(**{**words["diagnosis"], "alternatives": alternatives}),
        }
    )


def _require_form(words: object, form: type) -> None:
    """All fields of a dataclass, and no others, each of its type."""
    _require(isinstance(words, dict), form.__name__)
    assert isinstance(words, dict)
    names = [field.name for field in fields(form)]
    _require(set(words) == set(names), f"fields of {form.__name__}")
    for name in names:
        if name in _NESTED:
            continue
        value = words[name]
        _require(type(value) in _TYPES.get(name, _TEXT), name)
        _require(value in _LITERALS.get((form.__name__, name), (value,)), name)


def _require_score(words: dict[str, Any]) -> None:
    score, points, seconds = words["score"], words["points"], words["seconds"]
    _require(0 <= points < math.inf and 0 <= seconds < math.inf, "points or seconds")
    _require((score is None) == (words["outcome"] == "could_not_grade"), "score")
    _require(score is None or 0 <= score <= points, "score")


def _items(value: object) -> list[Any]:
    _require(isinstance(value, list), "a list")
    assert isinstance(value, list)
    return value


def _texts(value: object) -> tuple[str, ...]:
    found = _items(value)
    _require(all(isinstance(text, str) for text in found), "texts")
    return tuple(found)


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise BadResult(f"no such {what}")

"""Read results from a cache. It is not trusted: a result with wrong fields, types, outcomes or points is refused."""

from __future__ import annotations

import json
import math
from dataclasses import fields
from typing import Any, get_args

from grader.report.model import Advice, CheckOutcome, CheckResult, Diagnosis, ExerciseResult, Kind, Outcome

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
# Fields that `from_text` checks.
_NESTED = {
    "checks",
    "diagnosis",
    "advice",
    "mistakes",
    "remarks",
    "fix_first",
    "replaced",
    "lines",
    "alternatives",
    "figures",
    "picture",
    "code",
}


class BadResult(ValueError):
    """The text is not a stored result."""


def from_text(text: str) -> ExerciseResult:
    """Read a result that was written as JSON with all its fields. Raises BadResult for any other text.

    Figures, pictures, code and lines are never stored, so a result with one of them is refused too.
    """
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        raise BadResult("not JSON") from None
    _require_fields(record, ExerciseResult)
    _require_fields(record["diagnosis"], Diagnosis)
    for check in _items(record["checks"]):
        _require_fields(check, CheckResult)
    for advice in _items(record["advice"]):
        _require_fields(advice, Advice)
    alternatives = tuple(_texts(names) for names in _items(record["diagnosis"]["alternatives"]))
    _require(record["figures"] == {}, "figures")
    _require(record["picture"] is None and record["code"] is None, "picture or code")
    _require(record["diagnosis"]["lines"] == [], "lines")
    _require_score(record)
    return ExerciseResult(
        **{
            **record,
            "checks": tuple(CheckResult(**check) for check in record["checks"]),
            "advice": tuple(
                Advice(**{**one, "mistakes": _texts(one["mistakes"]), "checks": _texts(one["checks"])})
                for one in record["advice"]
            ),
            "remarks": _texts(record["remarks"]),
            "fix_first": _texts(record["fix_first"]),
            "replaced": _texts(record["replaced"]),
            "diagnosis": Diagnosis(**{**record["diagnosis"], "alternatives": alternatives, "lines": ()}),
        }
    )


def _require_fields(record: object, of: type) -> None:
    """Require exactly the fields of a dataclass, and the right type of each that is not in _NESTED."""
    _require(isinstance(record, dict), of.__name__)
    assert isinstance(record, dict)
    names = [field.name for field in fields(of)]
    _require(set(record) == set(names), f"fields of {of.__name__}")
    for name in names:
        if name in _NESTED:
            continue
        value = record[name]
        _require(type(value) in _TYPES.get(name, _TEXT), name)
        allowed = _LITERALS.get((of.__name__, name))
        _require(allowed is None or value in allowed, name)


def _require_score(record: dict[str, Any]) -> None:
    score, points, seconds = record["score"], record["points"], record["seconds"]
    _require(0 <= points < math.inf and 0 <= seconds < math.inf, "points or seconds")
    _require((score is None) == (record["outcome"] == "could_not_grade"), "score")
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
        raise BadResult(f"bad {what}")

"""What holds for the JSON record of every report. `tests/report/snapshots/report.json` shows its fields."""

from typing import Any, get_args

from grader.bundle.model import FACETS
from grader.report.model import SCHEMA, CheckOutcome, Kind, Outcome


def assert_obeys(record: dict[str, Any]) -> None:
    assert record["schema"] == SCHEMA
    assert record["seed"] in ("public", "hidden")
    assert record["sandbox"] in ("strict", "landlock", "basic")
    assert record["exercises"]
    for exercise in record["exercises"]:
        _assert_exercise(exercise)
        for check in exercise["checks"]:
            _assert_check(check)


def _assert_exercise(exercise: dict[str, Any]) -> None:
    outcome, score, diagnosis = exercise["outcome"], exercise["score"], exercise["diagnosis"]
    assert outcome in get_args(Outcome)
    assert (score is None) == (outcome == "could_not_grade")
    assert 0 <= (score or 0) <= exercise["points"]
    assert exercise["message"] or outcome not in ("blocked", "other_interface", "could_not_grade")
    if outcome == "other_interface":
        assert (score, exercise["checks"]) == (0, [])
    assert diagnosis["kind"] in get_args(Kind)
    assert all(diagnosis["alternatives"])
    assert len(diagnosis["lines"]) <= 3
    assert all(advice["policy"] and advice["reason"] and advice["checks"] for advice in exercise["advice"])
    if picture := exercise.get("picture"):
        assert len({"grids", "chain", "bars"} & set(picture)) == 1
        assert len(picture["words"]) > 1
    assert "code" not in exercise or exercise["code"]["lines"]


def _assert_check(check: dict[str, Any]) -> None:
    assert check["id"]
    assert check["title"]
    assert check["facet"] in FACETS
    assert check["outcome"] in get_args(CheckOutcome)
    if check["outcome"] in ("failed", "advice"):
        assert check["message"]
        assert bool(check["policy"]) == (check["outcome"] == "advice")
    if check["visibility"] == "hidden":
        assert check["expected"] is check["got"] is None

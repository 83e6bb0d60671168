"""The report as data: its points, exit status and JSON."""

import json
from pathlib import Path

import pytest

from grader.report.formats import as_json
from grader.report.model import CheckResult, Diagnosis, ExerciseResult, Report
from grader.support.sanitize import sanitize


def result(outcome="passed", score=1.0, points=2.0, **more):
    return ExerciseResult("f", "02_masking", outcome, score, points, **more)


def report(*results):
    return Report(results, "basic", "2.13.0", "0.1.0")


def test_an_exercise_not_graded_counts_in_neither_sum():
    both = report(result(), result("could_not_grade", None, 5.0), result("failed", 0.5))
    assert (both.score, both.points) == (1.5, 4.0)


def test_a_sum_of_points_prints_without_binary_noise():
    sums = report(result(score=0.1, points=0.1), result(score=0.2, points=0.2))
    assert (repr(sums.score), repr(sums.points)) == ("0.3", "0.3")


@pytest.mark.parametrize(
    ("outcomes", "status"),
    [
        (["passed"], 0),
        (["passed", "passed"], 0),
        (["passed", "failed"], 1),
        (["not_started"], 1),
        (["blocked", "passed"], 1),
        (["passed", "could_not_grade"], 3),
        (["failed", "could_not_grade"], 3),
    ],
)
def test_exit_status_for_outcomes(outcomes, status):
    assert report(*(result(outcome) for outcome in outcomes)).exit_status == status


def test_json_has_the_fields_of_a_report():
    checks = (
        CheckResult(
            "c", "values", "t", "failed", message="m\ud800\x1b", expected=None, got=None, visibility="hidden"
        ),
    )
    whole = result(
        "failed",
        0.3,
        checks=checks,
        diagnosis=Diagnosis("exact", (("a",), ("b", "c")), "says", "asks"),
        remarks=("r",),
    )
    words = json.loads(as_json(report(whole)))
    assert (words["schema"], words["score"], words["points"], words["sandbox"]) == (1, 0.3, 2.0, "basic")
    (exercise,) = words["exercises"]
    assert exercise["diagnosis"]["alternatives"] == [["a"], ["b", "c"]]
    assert exercise["checks"][0]["expected"] is None
    assert exercise["remarks"] == ["r"]


def test_json_of_sanitized_text_can_be_written_as_utf8(tmp_path: Path):
    checks = (CheckResult("c", "values", "t", "failed", message=sanitize("half a character \ud800")),)
    (tmp_path / "report.json").write_text(as_json(report(result(checks=checks))), encoding="utf-8")

"""The report as data: its points, exit status and JSON."""

import pytest

from grader.report.formats import written
from grader.report.model import CheckResult, ExerciseResult, Report
from grader.support.sanitize import sanitize


def report(*outcomes_and_scores, **more):
    results = (
        ExerciseResult("f", "02_masking", outcome, score, 2.0, **more)
        for outcome, score in outcomes_and_scores
    )
    return Report(tuple(results), "basic", "2.13.0", "0.1.0")


def test_an_exercise_not_graded_counts_in_neither_sum():
    both = report(("passed", 1.0), ("could_not_grade", None), ("failed", 0.5))
    assert (both.score, both.points) == (1.5, 4.0)


@pytest.mark.parametrize(
    ("outcomes", "status"),
    [
        (["passed"], 0),
        (["passed", "failed"], 1),
        (["not_started"], 1),
        (["blocked", "passed"], 1),
        (["passed", "could_not_grade"], 3),
        (["failed", "could_not_grade"], 3),
    ],
)
def test_exit_status_for_outcomes(outcomes, status):
    assert report(*((outcome, 1.0) for outcome in outcomes)).exit_status == status


def test_json_of_sanitized_text_can_be_written_as_utf8():
    check = CheckResult("c", "values", "t", "failed", message=sanitize("half a character \ud800"))
    assert "half a character" in written("json", report(("failed", 0.0), checks=(check,))).encode().decode()

"""The report as data: its points, exit status and JSON."""

import csv
import io
import json
from dataclasses import replace

import pytest

from grader.bundle.model import Rules
from grader.classroom.class_run import GradedSubmission
from grader.classroom.formats import FORMATS
from grader.report.formats import written
from grader.report.model import CheckResult, ExerciseResult, Report
from grader.report.shared_sentences import total_points
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


def halves(*scores):
    """Return a report; a score is that of an exercise of the second half if it is in a list."""
    made = [
        report(("passed", one), second=False)
        if isinstance(one, float)
        else report(("passed", one[0]), second=True)
        for one in scores
    ]
    return Report(tuple(e for part in made for e in part.exercises), "basic", "2.13.0", "0.1.0")


@pytest.mark.parametrize(
    ("scores", "score", "second", "text"),
    [
        ((1.0, 2.0), (3.0, 4.0), None, "3 / 4 points"),
        (
            (1.0, [2.0], [0.5]),
            (1.0, 2.0),
            {"score": 2.5, "points": 4.0},
            "1 / 2 points; second half: 2.5 / 4 points",
        ),
        (([2.0],), (2.0, 2.0), None, "2 / 2 points"),  # alone, the second half is what counts
        ((), (0.0, 0.0), None, "0 / 0 points"),
    ],
)
def test_the_second_half_has_points_of_its_own(scores, score, second, text):
    found = halves(*scores)
    assert (found.score, found.points) == score
    assert json.loads(written("json", found)).get("second_half") == second
    assert total_points(found.halves) == text


def test_a_table_of_a_class_has_columns_for_each_half():
    rows = [
        GradedSubmission(
            replace(halves(*scores), extra={"content": "", "submission": "s", "student": "s"}),
            1,
            "",
            False,
            True,
        )
        for scores in ((1.0, [2.0]), ([0.5],))
    ]
    head, *cells = csv.reader(io.StringIO(FORMATS["csv"](rows)))
    places = [head.index(name) for name in ("score", "points", "second half score", "second half points")]
    assert [[row[place] for place in places] for row in cells] == [["1", "2", "2", "2"], ["", "", "0.5", "2"]]


def test_a_course_may_leave_out_its_second_half(bundles):
    second = [bundle.assignment for bundle in bundles if bundle.second]
    assert second
    kept = Rules(second_half=False).apply(bundles)
    assert [b.assignment for b in kept] == [b.assignment for b in bundles if b.assignment not in second]


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

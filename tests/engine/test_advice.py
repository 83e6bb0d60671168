"""Policies, kinds of failures that cost no points: the report shows advice, unless the course lets them count."""

from __future__ import annotations

from contextlib import closing

from helpers.answers import BY_ID
from helpers.minimal import submission_of

from grader.bundle.rules import Rules
from grader.engine.engine import Engine
from grader.nbgrader.cell_outputs import comment_on

FILL = BY_ID["masked_softmax/right_fill_1e9"].source
OVERFLOWS = "the fill value is out of range for float16"


def test_advice_names_the_mistake_the_line_and_the_reason(grade):
    (result,) = grade(FILL, ["masked_softmax"]).exercises
    (advice,) = result.advice
    assert (advice.policy, advice.says) == ("precision", OVERFLOWS)
    assert "softmax-fill-minus-1e9" in advice.mistakes
    assert advice.where == "answer.py, line 8: X = X.masked_fill(mask == 0, -1e9)"
    assert advice.reason.startswith("float16: weights and dtype: raised RuntimeError: value cannot be")
    assert comment_on(result).startswith(f"advice, which costs no points: {OVERFLOWS}: float16")


def test_a_course_may_let_a_policy_count(bundles, engine):
    counted = Rules(counted=("precision",)).apply(bundles)
    with closing(Engine(counted, engine.launcher, engine.options)) as strict:
        report = strict.grade(submission_of(FILL), ["masked_softmax"])
    (result,) = report.exercises
    assert (result.outcome, result.advice, report.exit_status) == ("failed", (), 1)
    assert result.points / 2 < result.score < result.points
    assert result.diagnosis.says == OVERFLOWS

"""Policies, kinds of failures that cost no points: the report shows advice, unless the course lets them count."""

from __future__ import annotations

import pytest
from helpers.minimal import submission_of
from helpers.report_rules import assert_obeys

from grader.bundle.rules import Rules
from grader.engine.engine import Engine
from grader.nbgrader.cell_outputs import comment_on
from grader.report.model import to_json

FILL = """
import torch

def masked_softmax(X, valid_lens):
    if valid_lens is not None:
        lens = valid_lens[:, None] if valid_lens.dim() == 1 else valid_lens
        keep = torch.arange(X.shape[-1], device=X.device) < lens[:, :, None]
        X = X.masked_fill(~keep, -1e9)
    return torch.softmax(X, dim=-1)
"""
OVERFLOWS = "the fill value is out of range for float16"


@pytest.fixture
def fill(grade):
    return grade(FILL, ["masked_softmax"])


def test_half_precision_alone_costs_nothing_and_is_advice(fill):
    (result,) = fill.exercises
    assert (result.outcome, result.score, fill.exit_status) == ("passed", result.points, 0)
    (advice,) = result.advice
    assert (advice.policy, advice.says) == ("precision", OVERFLOWS)
    assert "softmax-fill-minus-1e9" in advice.mistakes
    assert advice.where == "answer.py, line 8: X = X.masked_fill(~keep, -1e9)"
    assert advice.reason.startswith("float16: weights and dtype: raised RuntimeError: value cannot be")
    assert result.diagnosis.kind == "none"


def test_a_course_may_let_a_policy_count(bundles, engine):
    strict = Engine(Rules(counted=("precision",)).apply(bundles), engine.launcher, engine.options)
    try:
        report = strict.grade(submission_of(FILL), ["masked_softmax"])
    finally:
        strict.close()
    (result,) = report.exercises
    assert (result.outcome, result.advice, report.exit_status) == ("failed", (), 1)
    assert result.points / 2 < result.score < result.points
    assert result.diagnosis.says == OVERFLOWS


def test_the_json_report_names_the_policy(fill):
    record = to_json(fill)
    assert_obeys(record)
    (exercise,) = record["exercises"]
    assert [advice["policy"] for advice in exercise["advice"]] == ["precision"]
    assert {c["outcome"] for c in exercise["checks"] if c["policy"]} == {"passed", "advice"}


def test_feedback_for_nbgrader_shows_advice(fill):
    assert comment_on(fill.exercises[0]).startswith(f"advice, which costs no points: {OVERFLOWS}: float16")

"""Policies, kinds of failures that cost no points: the report shows advice, unless the course lets them count."""

from __future__ import annotations

import pytest
from helpers.minimal import submission_of
from helpers.report_rules import assert_obeys

from grader.bundle.rules import Rules
from grader.engine.engine import Engine
from grader.nbgrader.cell_outputs import comment_on
from grader.report.model import to_json

SOFTMAX = """
import torch

def masked_softmax(X, valid_lens):
    if valid_lens is not None:
        lens = valid_lens[:, None] if valid_lens.dim() == 1 else valid_lens
        keep = torch.arange(X.shape[-1], device=X.device) < lens[:, :, None]
        X = X.masked_fill(~keep, -1e9)
    return torch.softmax(X, dim={axis})
"""
FILL = SOFTMAX.format(axis="-1")
# As in Dive into Deep Learning ("the book").
BOOK = """
import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.P = torch.zeros((1, max_len, num_hiddens))
        X = torch.arange(max_len).reshape(-1, 1) / 10000 ** (torch.arange(0, num_hiddens, 2) / num_hiddens)
        self.P[:, :, 0::2] = torch.sin(X)
        self.P[:, :, 1::2] = torch.cos(X)

    def forward(self, X):
        return self.dropout(X + self.P[:, : X.shape[1]].to(X.device))
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


def test_the_encoding_of_the_book_passes_with_advice_of_two_policies(grade_one):
    result = grade_one(BOOK, "PositionalEncoding")
    assert (result.outcome, result.score) == ("passed", result.points)
    assert [(a.policy, a.mistakes) for a in result.advice] == [
        ("odd-width", ("pos-odd-crash",)),
        ("precision", ("positions-table-in-float32",)),
    ]


def test_a_mistake_is_named_without_the_broken_policy(grade_one):
    result = grade_one(SOFTMAX.format(axis="1"), "masked_softmax")
    assert result.outcome == "failed"
    assert result.diagnosis.alternatives == (("softmax-over-queries",),)
    assert "fill" not in result.diagnosis.says


def test_what_is_wrong_in_float32_too_is_no_advice(grade_one):
    wrong = FILL.replace("torch.softmax(X, dim=-1)", "torch.softmax(X, dim=-1) * 0.37")
    result = grade_one(wrong.replace("-1e9", "torch.finfo(X.dtype).min"), "masked_softmax")
    assert result.outcome == "failed"
    assert result.advice == ()
    assert {c.outcome for c in result.checks if c.policy} <= {"passed", "skipped"}


@pytest.mark.parametrize("lens", ["None", "lens"])
def test_overflow_in_float32_fails_with_and_without_lengths(grade_one, lens):
    plain = "X.exp() / X.exp().sum(-1, keepdim=True)"
    if lens == "None":  # right with lengths
        source = FILL.replace("    return torch", "        return torch") + f"    return {plain}\n"
    else:  # right without lengths
        source = FILL.replace("-1e9)\n", f"-1e9)\n        return {plain}\n")
    result = grade_one(source, "masked_softmax")
    assert result.outcome == "failed"
    assert {c.facet for c in result.checks if c.outcome == "failed"} == {"values"}
    assert any("NaN" in c.message for c in result.checks if c.outcome == "failed")


def test_a_course_may_let_a_policy_count(bundles, engine):
    strict = Engine(Rules(counted=("precision",)).apply(bundles), engine.launcher, engine.options)
    try:
        report = strict.grade(submission_of(FILL), ["masked_softmax"])
        encoding = strict.grade(submission_of(BOOK), ["PositionalEncoding"]).exercises[0]
    finally:
        strict.close()
    (result,) = report.exercises
    assert (result.outcome, result.advice, report.exit_status) == ("failed", (), 1)
    assert result.points / 2 < result.score < result.points
    assert result.diagnosis.says == OVERFLOWS
    assert [a.policy for a in encoding.advice] == ["odd-width"]
    assert encoding.outcome == "failed"


def test_hidden_cases_show_advice_without_values(engine):
    hidden = engine.with_options(hidden=True)
    (result,) = hidden.grade(submission_of(FILL), ["masked_softmax"]).exercises
    (advice,) = result.advice
    assert (advice.says, advice.where) == (OVERFLOWS, "answer.py, line 8")
    assert advice.reason == "float16: weights and dtype: raised RuntimeError"


def test_the_json_report_names_the_policy(fill):
    record = to_json(fill)
    assert_obeys(record)
    (exercise,) = record["exercises"]
    assert [advice["policy"] for advice in exercise["advice"]] == ["precision"]
    assert {c["outcome"] for c in exercise["checks"] if c["policy"]} == {"passed", "advice"}


def test_feedback_for_nbgrader_shows_advice(fill):
    assert comment_on(fill.exercises[0]).startswith(f"advice, which costs no points: {OVERFLOWS}: float16")

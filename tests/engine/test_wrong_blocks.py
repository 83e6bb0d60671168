"""An exercise that uses a wrong block of the same file: how often it is tried, and with which blocks.

The order in which the exercises are graded changes no result.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.engine import grade_exercise as module

WRONG_SOFTMAX = """
import torch
from torch import nn

def masked_softmax(X, valid_lens):
    return X.softmax(1)
"""
RIGHT_SOFTMAX = """
import torch
from torch import nn
from grader.given import masked_softmax
"""
ATTENTION = """
class AdditiveAttention(nn.Module):
    def __init__(self, key_size, query_size, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        features = torch.tanh(self.W_q(queries).unsqueeze(2) + self.W_k(keys).unsqueeze(1))
        self.attention_weights = masked_softmax(self.w_v(features).squeeze(-1), valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)
"""
WRONG_ATTENTION = ATTENTION.replace("torch.tanh", "torch.relu")
BOTH = ["masked_softmax", "AdditiveAttention"]


@pytest.fixture
def tries(monkeypatch):
    """Every try that the engine makes from now on: the exercise, and the blocks that it replaces."""
    made = []

    def counted(run, exercise, replaced=()):
        made.append((exercise.name, tuple(replaced)))
        return once(run, exercise, replaced)

    once = module.grade_once
    monkeypatch.setattr(module, "grade_once", counted)
    return made


def without_seconds(result):
    return replace(result, seconds=0.0)


def test_a_block_known_to_be_wrong_is_replaced_in_the_first_try(grade, tries):
    result = grade(WRONG_SOFTMAX + ATTENTION, BOTH).exercises[1]
    assert tries == [("masked_softmax", ()), ("AdditiveAttention", ("masked_softmax",))]
    assert (result.outcome, result.score) == ("passed", result.points)
    assert result.fix_first == result.replaced == ("masked_softmax",)
    assert "your masked_softmax has an error (see there)" in " ".join(result.remarks)


def test_an_exercise_that_is_wrong_itself_is_tried_with_both(grade, tries):
    result = grade(WRONG_SOFTMAX + WRONG_ATTENTION, BOTH).exercises[1]
    with_reference, with_own = ("AdditiveAttention", ("masked_softmax",)), ("AdditiveAttention", ())
    assert tries == [("masked_softmax", ()), with_reference, with_own]
    assert result.outcome == "failed"
    assert result.replaced == ("masked_softmax",)


@pytest.mark.parametrize("attention", [ATTENTION, WRONG_ATTENTION])
def test_an_exercise_graded_before_its_block_gets_the_same_result(grade, attention):
    after = grade(WRONG_SOFTMAX + attention, BOTH).exercises[1]
    alone = grade(WRONG_SOFTMAX + attention, BOTH[1:]).exercises[0]
    assert without_seconds(after) == without_seconds(alone)


@pytest.mark.parametrize(
    "beside",
    [
        RIGHT_SOFTMAX,
        WRONG_SOFTMAX.replace("import nn", "import nn\nfrom grader.given import masked_softmax as good"),
    ],
)
def test_blocks_that_are_right_or_not_named_stay_as_they_are(grade, tries, beside):
    own = ATTENTION if beside is RIGHT_SOFTMAX else ATTENTION.replace("= masked_softmax(", "= good(")
    result = grade(beside + own, BOTH).exercises[-1]
    assert tries[-1] == ("AdditiveAttention", ())
    assert (result.outcome, result.replaced) == ("passed", ())

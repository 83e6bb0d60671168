"""A call that does the exercise's work gives a remark, and costs points only where the exercise says so."""

from contextlib import closing
from pathlib import Path

import pytest
from helpers.minimal import submission_of
from msgspec.structs import replace

from grader.bundle.files import load, save
from grader.engine.engine import Engine

# With the identity as values, @CALL@ returns the attention weights.
ATTENTION = """
import torch
from torch import nn
from torch.nn import functional as F
class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
    def forward(self, queries, keys, values, valid_lens=None):
        mask = None
        if valid_lens is not None:
            lens = valid_lens[:, None] if valid_lens.dim() == 1 else valid_lens
            mask = torch.arange(keys.shape[1]) < lens[:, :, None]
            mask = mask.expand(-1, queries.shape[1], -1)
        eye = torch.eye(keys.shape[1], dtype=keys.dtype).expand(len(keys), -1, -1)
        self.attention_weights = @CALL@(queries, keys, eye, attn_mask=mask)
        return torch.bmm(self.dropout(self.attention_weights), values)
"""
REMARK = "which you are asked to implement yourself"


@pytest.mark.parametrize(
    ("call", "where"),
    [
        ("F.scaled_dot_product_attention", " (answer.py, line 16)"),
        ("vars(F)['scaled_dot_' + 'product_attention']", ""),  # noted when it runs
    ],
)
def test_a_forbidden_call_gets_a_remark_and_costs_nothing(grade_one, call, where):
    result = grade_one(ATTENTION.replace("@CALL@", call), "DotProductAttention")
    assert (result.outcome, result.score) == ("passed", result.points)
    assert result.remarks == (f"uses scaled_dot_product_attention{where}, {REMARK}",)


def graded(engine, bundle, source, name):
    """Grade an exercise of a changed bundle."""
    with closing(Engine([bundle], engine.launcher)) as made:
        return made.grade(submission_of(source), [name]).exercises[0]


def changed(bundles, assignment, **fields):
    bundle = next(b for b in bundles if b.assignment == assignment)
    return replace(bundle, exercises=tuple(replace(e, **fields) for e in bundle.exercises))


def test_calls_in_building_blocks_do_not_count(engine, bundles):
    source = (Path(__file__).parents[2] / "grader" / "given" / "multi_head_attention.py").read_text()
    bundle = changed(bundles, "05_multi_head_attention", forbids=("scaled_dot_product_attention",))
    result = graded(engine, bundle, source, "MultiHeadAttention")
    assert (result.outcome, result.remarks) == ("passed", ()), result


def test_a_forbidden_call_costs_the_share_set_by_the_exercise(engine, bundles, tmp_path):
    save(changed(bundles, "03_scoring", forbids_costs=0.25), tmp_path)
    source = ATTENTION.replace("@CALL@", "F.scaled_dot_product_attention")
    result = graded(engine, load(tmp_path), source, "DotProductAttention")
    assert (result.points, result.score) == (5.0, 3.8)  # three quarters, rounded half up
    assert result.remarks[0].endswith("(−25% of the points)")

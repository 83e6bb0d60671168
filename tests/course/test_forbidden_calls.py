"""A call that does the exercise's work gives a remark, and costs points only where the exercise says so."""

from dataclasses import replace
from pathlib import Path

import pytest

from grader.bundle.files import dump, load, save
from grader.engine.engine import Engine
from grader.intake.read import Submission, Unit

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


def test_a_call_in_the_text_gets_a_remark_and_costs_nothing(grade_one):
    result = grade_one(ATTENTION.replace("@CALL@", "F.scaled_dot_product_attention"), "DotProductAttention")
    assert (result.outcome, result.score) == ("passed", result.points)
    assert result.remarks == (f"uses scaled_dot_product_attention (answer.py, line 16), {REMARK}",)


def test_a_call_that_the_text_does_not_show_is_noted_when_it_runs(grade_one):
    result = grade_one(
        ATTENTION.replace("@CALL@", "vars(F)['scaled_dot_' + 'product_attention']"), "DotProductAttention"
    )
    assert result.outcome == "passed"
    assert result.remarks == (f"uses scaled_dot_product_attention, {REMARK}",)


@pytest.fixture
def regraded(engine, bundles):
    """Return a function that grades an exercise with changed fields."""
    engines = []

    def graded(source, name, **changed):
        bundle = next(b for b in bundles if name in [e.name for e in b.exercises])
        exercises = tuple(replace(e, **changed) if e.name == name else e for e in bundle.exercises)
        engines.append(Engine([replace(bundle, exercises=exercises)], engine.launcher))
        return (
            engines[-1]
            .grade(Submission(Path("answer.py"), (Unit("answer.py", source),)), [name])
            .exercises[0]
        )

    yield graded
    for made in engines:
        made.close()


def test_calls_in_building_blocks_do_not_count(regraded):
    source = (Path(__file__).parents[2] / "grader" / "given" / "multi_head_attention.py").read_text()
    result = regraded(source, "MultiHeadAttention", forbids=("scaled_dot_product_attention",))
    assert (result.outcome, result.remarks) == ("passed", ()), result


def test_a_forbidden_call_costs_the_share_set_by_the_exercise(engine, bundles, tmp_path):
    bundle = next(b for b in bundles if b.assignment == "03_scoring")
    costly = replace(bundle, exercises=tuple(replace(e, forbids_costs=0.25) for e in bundle.exercises))
    save(costly, tmp_path)
    assert load(tmp_path).exercise("DotProductAttention").forbids_costs == 0.25
    assert b"forbids_costs" not in dump(bundle)[0].encode()
    strict = Engine([load(tmp_path)], engine.launcher)
    try:
        source = ATTENTION.replace("@CALL@", "F.scaled_dot_product_attention")
        result = strict.grade(
            Submission(Path("answer.py"), (Unit("answer.py", source),)), ["DotProductAttention"]
        ).exercises[0]
    finally:
        strict.close()
    assert (result.points, result.score) == (5.0, 3.8)  # three quarters, rounded half up
    assert result.remarks[0].endswith("(−25% of the points)")

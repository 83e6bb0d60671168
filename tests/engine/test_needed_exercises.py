"""An exercise that needs another exercise, which is wrong or not written.

A right answer passes with a reference block. If no block can replace the needed exercise, the answer is blocked.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from grader.engine.engine import Engine
from grader.intake.read import Submission, Unit

STUB = "def {name}({args}):\n    raise NotImplementedError('{name} is not written yet')\n"
SOFTMAX = """
def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return X.softmax(-1)
    lens = valid_lens.repeat_interleave(X.shape[1]) if valid_lens.dim() == 1 else valid_lens.reshape(-1)
    flat = sequence_mask(X.reshape(-1, X.shape[-1]), lens, torch.finfo(X.dtype).min)
    return flat.reshape(X.shape).softmax(-1)
"""
UNWRITTEN = STUB.format(name="sequence_mask", args="X, valid_len, value=0")
NO_MASK = "def sequence_mask(X, valid_len, value=0):\n    return X\n"
REGRESSION = """
def kernel_regression(queries, keys, values, w=1.0):
    return kernel_attention_weights(queries, keys, w) @ values
"""
NO_WEIGHTS = "def kernel_attention_weights(queries, keys, w=1.0):\n    return queries[:, None] * keys\n"
# A right answer to `catches_mixed_up`: it returns whether a module has the mistake of `MixedUpAttention`.
CATCHES = """
def catches_mixed_up(attention):
    attention.eval()
    queries, keys, values = (
        torch.randn(2, n, layer.in_features)
        for n, layer in zip((3, 5, 5), (attention.W_q, attention.W_k, attention.W_v))
    )
    lens = torch.tensor([2, 4])
    try:
        output = attention(queries, keys, values, lens)
    except Exception:
        return True
    weights = [layer.weight for layer in (attention.W_q, attention.W_k, attention.W_v, attention.W_o)]
    if any(g is None for g in torch.autograd.grad(output.sum(), weights, allow_unused=True)):
        return True
    padded = (torch.arange(5) >= lens[:, None])[:, :, None]
    again = attention(queries, keys.masked_fill(padded, 3.0), values.masked_fill(padded, 3.0), lens)
    return not torch.allclose(again, output, atol=1e-4)
"""
# A right answer to `MixedUpAttention`, a class to repair, based on the student's own MultiHeadAttention.
ON_OWN_ATTENTION = """
class MixedUpAttention(MultiHeadAttention):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__(key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias)
"""


@pytest.mark.parametrize("needed", [UNWRITTEN, NO_MASK], ids=["unwritten", "wrong"])
def test_a_right_answer_passes_if_a_needed_exercise_fails(grade_one, needed):
    result = grade_one("import torch\n" + needed + SOFTMAX, "masked_softmax")
    assert (result.outcome, result.score) == ("passed", result.points)
    assert result.fix_first == ("sequence_mask",)
    assert any("sequence_mask" in remark for remark in result.remarks)


def test_a_needed_exercise_that_is_not_used_is_not_to_fix_first(grade_one):
    source = "import torch\n" + UNWRITTEN + "def masked_softmax(X, valid_lens):\n    return X.softmax(-1)\n"
    result = grade_one(source, "masked_softmax")
    assert result.outcome == "failed"
    assert result.fix_first == ()


def test_the_first_exercise_of_the_course_can_be_replaced(bundles, engine):
    first = bundles[0]
    regression = replace(first.exercise("kernel_regression"), given=("kernel_attention_weights",))
    course = [replace(first, exercises=(first.exercise("kernel_attention_weights"), regression))]
    source = "import torch\n" + NO_WEIGHTS + REGRESSION
    with closing(Engine(course, engine.launcher)) as grader:
        submission = Submission(Path("a.py"), (Unit("a.py", source),))
        (result,) = grader.grade(submission, ["kernel_regression"]).exercises
    assert (result.outcome, result.fix_first) == ("passed", ("kernel_attention_weights",))


def test_a_remark_says_why_a_reference_block_was_used(bundles, grade_one):
    stub = next(b for b in bundles if b.assignment == "02_masking").stub
    unwritten = grade_one(stub + SOFTMAX, "masked_softmax").remarks
    wrong = grade_one("import torch\n" + NO_MASK + SOFTMAX, "masked_softmax").remarks
    assert any(remark.startswith("your sequence_mask is not written yet;") for remark in unwritten)
    assert any(remark.startswith("your sequence_mask has an error, see its own report;") for remark in wrong)


def stub_of(bundles, assignment: str) -> str:
    return next(bundle for bundle in bundles if bundle.assignment == assignment).stub


def test_a_test_of_a_class_that_is_not_repaired_is_blocked(bundles, grade_one):
    result = grade_one(stub_of(bundles, "05_multi_head_attention") + CATCHES, "catches_mixed_up")
    assert (result.outcome, result.fix_first) == ("blocked", ("MixedUpAttention",))
    assert "MixedUpAttention, which it needs and which is not written yet" in result.message


def test_a_wrong_test_fails_although_the_class_is_not_repaired(bundles, grade_one):
    wrong = "\ndef catches_mixed_up(attention):\n    return True\n"
    result = grade_one(stub_of(bundles, "05_multi_head_attention") + wrong, "catches_mixed_up")
    assert result.outcome == "failed"


def test_an_unwritten_base_class_is_not_called_wrong(bundles, grade_one):
    source = stub_of(bundles, "05_multi_head_attention") + ON_OWN_ATTENTION + CATCHES
    result = grade_one(source, "catches_mixed_up")
    assert (result.outcome, result.score) == ("passed", result.points)
    text = " ".join((result.message, result.diagnosis.says, *result.remarks))
    assert "your MultiHeadAttention is not written yet" in text
    assert "fault" not in text and "error" not in text

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

"""The engine grades one submission: outcomes, points, messages, and the effect of one exercise on another."""

from __future__ import annotations

import re
from textwrap import dedent

import pytest

from grader.sandbox.base import Limits

RIGHT_MASK = """
def sequence_mask(X, valid_len, value=0):
    keep = torch.arange(X.shape[1], device=X.device)[None, :] < valid_len[:, None]
    return X.masked_fill(~keep.reshape(keep.shape + (1,) * (X.dim() - 2)), value)
"""
RIGHT_SOFTMAX = """
def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return X.softmax(-1)
    lens = valid_lens[:, None] if valid_lens.dim() == 1 else valid_lens
    keep = torch.arange(X.shape[-1], device=X.device) < lens[:, :, None]
    return X.masked_fill(~keep, -torch.inf).softmax(-1)
"""
BOTH = ["sequence_mask", "masked_softmax"]


def short_limits(exercise):
    return Limits(wall_seconds=1.5)


def outcomes(report):
    return {e.name: e.outcome for e in report.exercises}


def test_right_answers_pass_with_all_points(grade):
    report = grade("import torch" + RIGHT_MASK + RIGHT_SOFTMAX, BOTH)
    assert outcomes(report) == {"sequence_mask": "passed", "masked_softmax": "passed"}
    assert report.score == report.points == 8
    assert report.exit_status == 0


def test_a_stub_is_not_started_and_calls_itself_unwritten(grade, bundles):
    stub = next(b for b in bundles if b.assignment == "02_masking").stub
    report = grade(stub, BOTH)
    assert set(outcomes(report).values()) == {"not_started"}
    assert report.score == 0
    assert report.points == 8
    assert report.exit_status == 1
    namespace = {}
    exec(compile(stub, "stub", "exec"), namespace)
    with pytest.raises(NotImplementedError, match="masked_softmax is not written yet"):
        namespace["masked_softmax"](None, None)


def test_a_written_exercise_passes_beside_an_untouched_one(grade, bundles):
    stub = next(b for b in bundles if b.assignment == "02_masking").stub
    report = grade(stub + RIGHT_MASK, BOTH)
    assert outcomes(report) == {"sequence_mask": "passed", "masked_softmax": "not_started"}


def test_an_undefined_exercise_is_blocked_and_says_so(grade_one):
    result = grade_one("import torch\nx = 1\n", "masked_softmax")
    assert result.outcome == "blocked"
    assert result.message == "masked_softmax is not defined in answer.py"


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("import torch\ndef masked_softmax(X, valid_lens)\n    return X\n", "answer.py, line 2"),
        ("@undefined\ndef masked_softmax(X, valid_lens):\n    return X\n", "NameError: name 'undefined'"),
        ("class masked_softmax(Missing):\n    pass\n", "line 1: NameError: name 'Missing'"),
        ("def masked_softmax(X, valid_lens):\n\treturn X\n        return X\n", "answer.py, line 3"),
        ("(" * 5000 + "\nmasked_softmax = 1", "answer.py"),
    ],
)
def test_a_file_that_cannot_be_loaded_blocks_with_file_and_line(grade_one, source, sentence):
    result = grade_one(source, "masked_softmax")
    assert result.outcome == "blocked"
    assert sentence in result.message
    assert "Traceback" not in result.message


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("masked_softmax = 3\n", "TypeError: 'int' object is not callable"),
        (
            "def masked_softmax(X, valid_lens):\n    return softmaxx(X, -1)\n",
            "name 'softmaxx' is not defined",
        ),
        ("def masked_softmax(X, valid_lens):\n    return None\n", "expected a tensor, got None"),
        ("def masked_softmax(X, valid_lens):\n    return (X, X)\n", "expected a tensor, got a tuple of 2"),
        ("def masked_softmax(X, valid_lens):\n    raise SystemExit\n", "the code ends Python"),
        ("def masked_softmax(X, valid_lens):\n    return masked_softmax(X, valid_lens)\n", "RecursionError"),
    ],
)
def test_an_answer_that_raises_or_returns_no_tensor_fails(grade_one, source, sentence):
    result = grade_one(source, "masked_softmax")
    assert result.outcome == "failed"
    assert any(sentence in check.message for check in result.checks), [c.message for c in result.checks]
    assert result.score == 0


def test_the_students_own_line_is_named(grade_one):
    result = grade_one(
        "import torch\ndef masked_softmax(X, valid_lens):\n    y = X\n    return y.nope()\n", "masked_softmax"
    )
    assert result.checks[0].where == "answer.py, line 4: return y.nope()"


def test_statements_that_fail_are_skipped_and_reported(grade):
    report = grade(
        "import torch, not_there_at_all\n" + "import torch" + RIGHT_SOFTMAX + "\nprint(1 / 0)\n",
        ["masked_softmax"],
    )
    assert report.exercises[0].outcome == "passed"
    needs, raised = report.remarks
    assert needs.startswith("1 statement needs code that is not available here and was skipped: ")
    assert raised == (
        "the statement in answer.py, line 10 raised an exception and was skipped: ZeroDivisionError: division by zero"
    )


def test_a_skipped_statement_and_its_exception_have_their_lines(grade):
    (remark,) = grade(
        "import torch" + RIGHT_SOFTMAX + "\nmasked_softmax(\n    3, None)\n", ["masked_softmax"]
    ).remarks
    assert remark == (
        "the statement in answer.py, line 9 raised an exception and was skipped:"
        " AttributeError: 'int' object has no attribute 'softmax' (answer.py, line 4)"
    )


def test_an_endless_top_level_statement_is_skipped_and_reported(grade, monkeypatch):
    monkeypatch.setattr("grader.engine.load_request.limits", short_limits)
    report = grade("import torch\nwhile True:\n    pass\n" + RIGHT_SOFTMAX, ["masked_softmax"])
    assert report.exercises[0].outcome == "passed"
    assert any("line 2: this statement timed out" in remark for remark in report.remarks)
    assert not report.faulty, "a long demonstration is no error"


def test_an_endless_answer_is_stopped_and_the_next_is_graded(grade, monkeypatch):
    monkeypatch.setattr("grader.engine.load_request.limits", short_limits)
    endless = (
        "import torch\ndef sequence_mask(X, valid_len, value=0):\n    while True:\n        X = X + 1\n"
        + RIGHT_SOFTMAX
    )
    report = grade(endless, BOTH)
    assert outcomes(report) == {"sequence_mask": "failed", "masked_softmax": "passed"}
    first = report.exercises[0].checks[0]
    assert re.fullmatch(r"stopped after [\d.]+ seconds; is there a loop that never ends\?", first.message)
    assert first.where.startswith("answer.py, line ")
    assert report.exercises[0].score == 0


def test_a_crash_of_the_process_costs_one_exercise(grade):
    crash = (
        "import torch, ctypes\ndef sequence_mask(X, valid_len, value=0):\n    ctypes.string_at(0)\n"
        + RIGHT_SOFTMAX
    )
    report = grade(crash, BOTH)
    assert outcomes(report) == {"sequence_mask": "failed", "masked_softmax": "passed"}
    assert (
        "the worker process ended twice while it ran your code (signal 11)"
        in report.exercises[0].checks[0].message
    )


def test_printing_without_end_is_stopped(grade_one):
    result = grade_one(
        "def masked_softmax(X, valid_lens):\n    while True:\n        print('x' * 10000)\n", "masked_softmax"
    )
    assert result.outcome == "failed"
    assert "too much output" in result.checks[0].message


def test_more_memory_than_allowed_fails(grade_one):
    result = grade_one(
        "import torch\ndef masked_softmax(X, valid_lens):\n    return torch.ones(1 << 40)\n", "masked_softmax"
    )
    assert result.outcome == "failed"
    assert "memory" in result.checks[0].message


def test_a_wrong_own_block_is_replaced_and_reported(grade):
    source = dedent(
        """
        import math, torch
        from torch import nn
        from grader.given import transpose_qkv, transpose_output

        def masked_softmax(X, valid_lens):
            return X.softmax(dim=1)

        class MultiHeadAttention(nn.Module):
            def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
                super().__init__()
                self.num_heads = num_heads
                self.dropout = nn.Dropout(dropout)
                self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
                self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
                self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
                self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

            def forward(self, queries, keys, values, valid_lens):
                q = transpose_qkv(self.W_q(queries), self.num_heads)
                k = transpose_qkv(self.W_k(keys), self.num_heads)
                v = transpose_qkv(self.W_v(values), self.num_heads)
                if valid_lens is not None:
                    valid_lens = valid_lens.repeat_interleave(self.num_heads, 0)
                weights = masked_softmax(q @ k.transpose(1, 2) / math.sqrt(q.shape[-1]), valid_lens)
                return self.W_o(transpose_output(self.dropout(weights) @ v, self.num_heads))
        """
    )
    report = grade(source, ["masked_softmax", "MultiHeadAttention"])
    assert outcomes(report) == {"masked_softmax": "failed", "MultiHeadAttention": "passed"}
    inherited = [r for r in report.exercises[1].remarks if "graded with the reference masked_softmax" in r]
    assert inherited
    assert report.exercises[1].score == report.exercises[1].points


def test_withheld_blocks_can_be_imported_but_not_used(grade_one):
    source = "from grader.given import masked_softmax as finished\ndef masked_softmax(X, valid_lens):\n    return finished(X, valid_lens)\n"
    result = grade_one(source, "masked_softmax")
    assert result.outcome == "failed"
    assert "masked_softmax is not among the building blocks of this exercise" in result.checks[0].message


def test_a_similar_name_is_graded_as_the_name_in_the_course(grade):
    report = grade("import torch" + RIGHT_SOFTMAX.replace("masked_softmax", "MaskedSoftmax"))
    assert [(e.name, e.outcome) for e in report.exercises] == [("masked_softmax", "passed")]
    assert report.exercises[0].remarks == (
        "answer.py, line 2 defines MaskedSoftmax; it was graded as masked_softmax, the name in the course",
    )


@pytest.mark.parametrize(
    "body",
    [
        "return torch.zeros_like(X)",
        "return X",
        "return torch.full_like(X, 1 / X.shape[-1])",
        "return X * 0 + 5",
    ],
)
def test_trivial_answers_get_no_points(grade_one, body):
    result = grade_one(f"import torch\ndef masked_softmax(X, valid_lens):\n    {body}\n", "masked_softmax")
    assert result.outcome == "failed"
    assert result.score == 0


def test_wrong_values_get_a_quarter_at_most(grade_one):
    result = grade_one(
        "import torch\ndef masked_softmax(X, valid_lens):\n    return X.softmax(1)\n", "masked_softmax"
    )
    assert result.outcome == "failed"
    assert 0 < result.score <= result.points / 4


def test_a_known_mistake_is_named(grade_one):
    source = "import torch\n" + RIGHT_MASK.replace("< valid_len", "<= valid_len")
    result = grade_one(source, "sequence_mask")
    assert result.diagnosis.kind == "exact"
    assert result.diagnosis.alternatives == (("mask-length-counts-one-more",),)
    assert result.diagnosis.says


def test_an_unknown_mistake_is_not_given_a_name(grade_one):
    source = RIGHT_MASK.replace("return X", "return 0.9 * X + 0.013")
    result = grade_one("import torch\n" + source, "sequence_mask")
    assert result.outcome == "failed"
    assert result.diagnosis.kind == "unknown"
    assert result.diagnosis.alternatives == ()


def test_the_worker_does_not_get_the_parent_s_environment(grade_one, monkeypatch):
    monkeypatch.setenv("HEADWAY_SEED_FILE", "/secret/place")
    found = "[name for name in os.environ if 'HEADWAY' in name]"
    source = f"import os\ndef masked_softmax(X, valid_lens):\n    raise ValueError('found', {found})\n"
    result = grade_one(source, "masked_softmax")
    assert "('found', [])" in result.checks[0].message


def test_an_engine_with_other_options_parses_no_stub_again(engine, monkeypatch):
    def parsed(_bundle):
        raise AssertionError("a stub was parsed again")

    monkeypatch.setattr("grader.engine.engine.stubs_of", parsed)
    other = engine.with_options(hidden=True)
    assert other.context.stubs is engine.context.stubs
    assert other.context.contracts is engine.context.contracts
    assert other.context.slot is engine.context.slot
    assert other.options.hidden is True
    assert other.context.options.hidden is True
    assert not engine.options.hidden
    assert not engine.context.options.hidden

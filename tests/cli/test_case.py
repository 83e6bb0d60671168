"""`grader case`: a file with the inputs of the first failing case, without expected values."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.beginners import HEAD, MASK, SOFTMAX
from helpers.command_line import HANGS_AFTER, run

from grader.bundle.safetensors import encode
from grader.student.case_file import case_text
from grader.support.errors import UsageError

BODY = "def sequence_mask(X, valid_len, value=0):\n    {}\n"
WRONG_SCORES = """\
import torch
from torch import nn


class AdditiveAttention(nn.Module):
    def __init__(self, key_size, query_size, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)

    def forward(self, queries, keys, values, valid_lens=None):
        features = torch.tanh(self.W_q(queries).unsqueeze(2) + self.W_k(keys).unsqueeze(1))
        return torch.bmm(self.w_v(features).squeeze(-1), values)
"""


@pytest.mark.slow
def test_every_public_case_becomes_a_file_or_a_sentence(bundles):
    refused = set()
    for exercise in (e for b in bundles for e in b.exercises):
        for case in exercise.cases:
            try:
                source, _stored = case_text(case, "module", {}, "title", "beside.safetensors")
            except UsageError:
                refused.add(exercise.name)
                continue
            compile(source, case.id, "exec")
            assert exercise.name in source.partition("from module import ")[2].splitlines()[0]
    with_classes = {e.name for b in bundles for e in b.exercises if e.brings_classes}
    assert refused <= with_classes, "only cases that use a class of the grader are refused"


def test_no_expected_value_is_written(bundles):
    for case in (c for b in bundles for e in b.exercises for c in e.cases if c.expected):
        try:
            source, stored = case_text(case, "module", {}, "", "beside")
        except UsageError:
            continue
        assert set(stored) <= set(case.tensors)
        given = {digits for tensor in case.tensors.values() for digits in first_digits(tensor)}
        for name, array in case.expected.items():
            # Only values of ten characters are compared: a short one, such as 0.5, may occur elsewhere.
            found = [n for n in first_digits(array) - given if len(n) == 10 and n in source]
            assert not found, (case.id, name)


def first_digits(array: np.ndarray) -> set[str]:
    """Return the first ten characters of each value."""
    return {repr(float(value))[:10] for value in array.ravel()}


def run_python(file: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, file.name], cwd=file.parent, capture_output=True, text=True, timeout=HANGS_AFTER
    )


@pytest.mark.slow
def test_the_file_calls_the_answer_with_the_inputs_of_the_case(course):
    (course / "02_masking/masking.py").write_text(HEAD + BODY.format("return Y"), "utf-8")
    done = run("case", "sequence_mask", cwd=course)
    assert done.returncode == 0, done.stderr
    written = course / "02_masking/case_sequence_mask.py"
    assert "02_masking/case_sequence_mask.py" in done.stdout
    assert "NameError: name 'Y' is not defined" in run_python(written).stderr


@pytest.mark.slow
def test_long_tensors_are_in_a_safetensors_file_beside_it(course):
    (course / "03_scoring/scoring.py").write_text(WRONG_SCORES, "utf-8")
    done = run("case", "AdditiveAttention", cwd=course)
    assert done.returncode == 0, done.stderr
    assert (course / "03_scoring/case_AdditiveAttention.safetensors").is_file()
    ran = run_python(course / "03_scoring/case_AdditiveAttention.py")
    assert ran.returncode == 0, ran.stderr
    assert "<All keys matched successfully>" in ran.stdout
    assert "tensor(" in ran.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "exercise", "says"),
    [
        (MASK + SOFTMAX, "masked_softmax", "masked_softmax passes: no public case fails."),
        (BODY.format("pass"), "sequence_mask", "sequence_mask"),  # not started
    ],
)
def test_without_a_failed_case_nothing_is_written(course, answer, exercise, says):
    (course / "02_masking/masking.py").write_text(HEAD + answer, "utf-8")
    done = run("case", exercise, cwd=course)
    assert says in done.stdout
    assert not list((course / "02_masking").glob("case_*"))


@pytest.mark.slow
def test_tensors_with_infinity_or_nan_go_into_the_safetensors_file(bundles):
    case = bundles[1].exercises[0].cases[0]
    infinite = {name: array * np.inf for name, array in case.tensors.items() if array.dtype.kind == "f"}
    _source, stored = case_text(replace(case, tensors={**case.tensors, **infinite}), "m", {}, "", "b")
    assert set(stored) == {"X"}, "the only tensor of this case that is written and has such values"
    assert encode(stored)


BROKEN = """\
def sequence_mask(X, valid_len, value=0):
    d = {"a": }
    return X
"""

IN_PLACE = """\
import torch


def sequence_mask(X, valid_len, value=0):
    X[torch.arange(X.shape[1])[None, :] < valid_len[:, None]] = value
    return X
"""


@pytest.mark.slow
def test_a_syntax_error_in_a_line_with_braces_is_shown(course):
    (course / "02_masking/masking.py").write_text(BROKEN, "utf-8")
    done = run("case", "sequence_mask", cwd=course)
    assert "Traceback" not in done.stderr
    assert '{"a": }' in done.stdout


@pytest.mark.slow
def test_an_answer_that_writes_into_its_argument_runs(course):
    (course / "02_masking/masking.py").write_text(IN_PLACE, "utf-8")
    assert run("case", "sequence_mask", cwd=course).returncode == 0
    ran = run_python(course / "02_masking/case_sequence_mask.py")
    assert ran.returncode == 0, ran.stderr

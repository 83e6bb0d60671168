"""`grader case`: a file with the inputs of the first failing case, without expected values."""

import sys

import numpy as np
import pytest
from helpers.command_line import ROOT, process, run
from msgspec.structs import replace

from grader.bundle.safetensors import encode
from grader.student.case_file import case_text
from grader.support.errors import UsageError

MASKING = "02_masking/masking.py"
BODY = "import torch\n\n\ndef sequence_mask(X, valid_len, value=0):\n    {}\n    return X\n"


def test_every_public_case_becomes_a_file_without_expected_values_or_a_sentence(bundles):
    for exercise in (e for b in bundles for e in b.exercises):
        for case in exercise.cases:
            try:
                source, stored = case_text(case, "module", {}, "title", "beside.safetensors")
            except UsageError:
                assert exercise.brings_classes, "only cases that use a class of the grader are refused"
                continue
            compile(source, case.id, "exec")
            assert exercise.name in source.partition("from module import ")[2].splitlines()[0]
            assert set(stored) <= set(case.tensors)
            given = {digits for tensor in case.tensors.values() for digits in first_digits(tensor)}
            for name, array in case.expected.items():
                # Only values of ten characters are compared: a short one, such as 0.5, may occur elsewhere.
                found = [n for n in first_digits(array) - given if len(n) == 10 and n in source]
                assert not found, (case.id, name)


def first_digits(array: np.ndarray) -> set[str]:
    """Return the first ten characters of each value."""
    return {repr(float(value))[:10] for value in array.ravel()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("Y.size()", "NameError: name 'Y' is not defined"),
        ("X[torch.arange(X.shape[1])[None, :] < valid_len[:, None]] = value", ""),  # writes into its argument
    ],
)
def test_the_file_calls_the_answer_with_the_inputs_of_the_case(course, line, error):
    (course / MASKING).write_text(BODY.format(line), "utf-8")
    done = run("case", "sequence_mask", cwd=course)
    assert done.returncode == 0, done.stderr
    assert "02_masking/case_sequence_mask.py" in done.stdout
    assert (
        error in (ran := process(sys.executable, "case_sequence_mask.py", cwd=course / "02_masking")).stderr
    )
    assert ran.returncode == bool(error)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "name", "edit"),
    [
        ("02_masking/masking.py", "masked_softmax", ("keys < valid_lens", "keys <= valid_lens")),
        ("01_attention_pooling/attention_pooling.py", "kernel_attention_weights", ("* w)", "* float(w))")),
        ("03_scoring/scoring.py", "DotProductAttention", ("self.dropout(", "0.5 * self.dropout(")),
    ],
    ids=["values", "gradient", "weights"],
)
def test_the_file_shows_the_fault(course, module, name, edit):
    right = (ROOT / "solutions" / module).read_text("utf-8").partition("# ## Try it")[0]  # which prints, too
    assert edit[0] in right
    (course / module).write_text(right.replace(*edit), "utf-8")
    assert run("case", name, cwd=course).returncode == 0
    folder, command = (course / module).parent, [sys.executable, f"case_{name}.py"]
    shown = process(*command, cwd=folder).stdout
    (course / module).write_text(right, "utf-8")
    expected = process(*command, cwd=folder)
    assert expected.returncode == 0, expected.stderr
    assert shown != expected.stdout


@pytest.mark.slow
def test_long_tensors_are_in_a_safetensors_file_beside_it(course):
    right = (ROOT / "solutions/03_scoring/scoring.py").read_text("utf-8")
    (course / "03_scoring/scoring.py").write_text(right.replace("torch.tanh(", "torch.sin("), "utf-8")
    assert run("case", "AdditiveAttention", cwd=course).returncode == 0
    assert (course / "03_scoring/case_AdditiveAttention.safetensors").is_file()
    ran = process(sys.executable, "case_AdditiveAttention.py", cwd=course / "03_scoring")
    assert ran.returncode == 0, ran.stderr
    assert "<All keys matched successfully>" in ran.stdout
    assert "tensor(" in ran.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ((ROOT / "solutions" / MASKING).read_text("utf-8"), "sequence_mask passes: no public case fails."),
        (BODY.format("pass").replace("    return X\n", ""), "sequence_mask"),  # not started
        (BODY.format('d = {"a": }'), '{"a": }'),  # a syntax error
    ],
    ids=["right", "not started", "syntax error"],
)
def test_without_a_failed_case_nothing_is_written(course, answer, says):
    (course / MASKING).write_text(answer, "utf-8")
    done = run("case", "sequence_mask", cwd=course)
    assert says in done.stdout
    assert "Traceback" not in done.stderr
    assert not list((course / "02_masking").glob("case_*"))


def test_tensors_with_infinity_or_nan_go_into_the_safetensors_file(bundles):
    case = bundles[1].exercises[0].cases[0]
    infinite = {name: array * np.inf for name, array in case.tensors.items() if array.dtype.kind == "f"}
    _source, stored = case_text(replace(case, tensors={**case.tensors, **infinite}), "m", {}, "", "b")
    assert set(stored) == {"X", "upstream02"}, "the tensors of this case that have such values"
    assert encode(stored)

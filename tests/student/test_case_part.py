"""A part of a failing case: it fails as the case does, and a right answer does not fail on it."""

import numpy as np
import pytest
from helpers.command_line import ROOT
from helpers.minimal import submission_of

from grader.lines.find import Source
from grader.report.model import CheckResult
from grader.report.shared_sentences import first_failure
from grader.student.case_part import smallest


def reference(bundle):
    return (ROOT / "solutions" / bundle.assignment / f"{bundle.module}.py").read_text("utf-8")


def part_of(engine, bundle, name, *edit):
    """Return the part for the reference solution with one edit, and the whole case."""
    source = reference(bundle)
    assert edit[0] in source
    source = Source(submission_of(source.replace(*edit), f"{bundle.module}.py"))
    (result,) = engine.grade(source.submission, [name]).exercises
    failed = first_failure(result.checks)
    exercise = bundle.exercise(name)
    part, _says = smallest(engine, source, exercise, failed)
    return part, next(case for case in exercise.cases if failed.id in [check.id for check in case.checks])


@pytest.mark.parametrize(
    ("edit", "sequences"),
    [
        (("X.softmax(dim=-1)", "X.softmax(dim=-2)"), 1),
        (("keys < valid_lens", "keys <= valid_lens"), 1),
        # The lengths of other sequences: alone, each is right.
        (("[:, None]  # (B, 1)", ".repeat(X.shape[1]).view(len(X), -1)  # (B, 1)"), 3),
        (
            ("return X.masked_fill(~keep, lowest)", "return X.masked_fill(~keep[:, :, 0], lowest)"),
            3,
        ),  # raises
    ],
)
def test_it_has_one_sequence_in_few_digits_if_this_sequence_fails_alone(engine, bundles, edit, sequences):
    part, whole = part_of(engine, bundles[1], "masked_softmax", *edit)
    assert {len(part.tensors[step.name]) for step in part.inputs} == {sequences}
    assert len(whole.tensors["X"]) == 3
    assert np.array_equal(part.tensors["X"], part.tensors["X"].round(3))
    assert len(part.steps) < len(whole.steps)


def test_a_fault_that_rounded_numbers_would_hide_keeps_the_whole_case(engine, bundles):
    edit = "scores.softmax(dim=-1)", "scores.softmax(dim=-1) + 1e-3"
    part, whole = part_of(engine, bundles[0], "kernel_attention_weights", *edit)
    assert part is whole


@pytest.mark.slow
def test_a_right_answer_fails_on_no_part(engine, bundles):
    tried = 0
    for bundle in bundles:
        source = Source(submission_of(reference(bundle), f"{bundle.module}.py"))
        for exercise in bundle.exercises:
            for check in (
                check for case in exercise.cases for check in case.checks if check.judge == "equal"
            ):
                failed = CheckResult(check.id, check.facet, check.title, "failed", rule="values")
                part, says = smallest(engine, source, exercise, failed)
                assert failed.id in [one.id for one in part.checks], "the whole case"
                assert says == ""
                tried += not part.brings_classes
    assert tried > 100

"""A facet of weight 0 is off: its checks do not fail an exercise and are not shown."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from grader.engine.engine import Engine
from grader.intake.read import Submission, Unit

DETACHED = """
import torch
def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return X.detach().softmax(-1)
    lens = valid_lens[:, None] if valid_lens.dim() == 1 else valid_lens
    keep = torch.arange(X.shape[-1]) < lens[:, :, None]
    return X.detach().masked_fill(~keep, -torch.inf).softmax(-1)
"""


@pytest.fixture
def graded(bundles, engine):
    def grade(source: str, **weights: float):
        masking = next(b for b in bundles if b.assignment == "02_masking")
        exercise = masking.exercise("masked_softmax")
        changed = replace(exercise, weights={**exercise.weights, **weights})
        course = [replace(masking, exercises=(masking.exercise("sequence_mask"), changed))]
        submission = Submission(Path("a.py"), (Unit("a.py", source),))
        with closing(Engine(course, engine.launcher)) as grader:
            return grader.grade(submission, ["masked_softmax"]).exercises[0]

    return grade


def test_a_failed_facet_of_weight_0_does_not_fail_the_exercise(graded):
    assert graded(DETACHED).outcome == "failed"
    result = graded(DETACHED, gradients=0)
    assert (result.outcome, result.score) == ("passed", result.points)
    assert "gradients" not in {check.facet for check in result.checks}


def test_an_exception_is_reported_although_the_first_facet_is_off(graded):
    result = graded("def masked_softmax(X, valid_lens):\n    raise ValueError('no')\n", shapes=0)
    assert result.outcome == "failed"
    assert "raised ValueError: no" in {check.message for check in result.checks}


def test_a_mistake_is_named_although_a_facet_is_off(graded):
    source = "def masked_softmax(X, valid_lens):\n    return X.softmax(-1)\n"
    alternatives = graded(source).diagnosis.alternatives
    assert alternatives != ()  # the sets of known mistakes that explain the answer
    assert graded(source, gradients=0).diagnosis.alternatives == alternatives

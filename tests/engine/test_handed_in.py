"""Trained weights that are handed in beside the code are measured on new text, in a worker without student code."""

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from helpers.command_line import ROOT
from helpers.minimal import submission_of
from msgspec import structs

from grader.bundle.safetensors import decode, encode
from grader.engine.engine import Engine
from grader.engine.grading import GradingOptions

FOLDER = ROOT / "solutions" / "17_language_model"
NAME = "train_language_model"
WEIGHTS = (FOLDER / "language_model.safetensors").read_bytes()


@pytest.fixture(scope="module")
def check(bundles, engine):
    """Return a function that grades the solution with these weights, on the one case that measures them."""
    (bundle,) = [b for b in bundles if b.assignment == "17_language_model"]
    cases = tuple(case for case in bundle.exercise(NAME).cases if case.takes_weights)
    exercises = (
        structs.replace(e, cases=cases, signatures=None) if e.name == NAME else e for e in bundle.exercises
    )
    bundle = structs.replace(bundle, exercises=tuple(exercises))
    solution = submission_of((FOLDER / "language_model.py").read_text("utf-8"), "language_model.py")

    def graded(weights):
        with closing(Engine([bundle], engine.launcher, GradingOptions(torch_version="tested"))) as one:
            (result,) = one.grade(replace(solution, weights=weights), [NAME]).exercises
        return result

    return graded


def changed(**changes):
    """Return the weights of the solution with changes: name → the new array, or None to leave it out."""
    arrays = decode(WEIGHTS) | {name.replace("__", "."): values for name, values in changes.items()}
    return encode({name: values for name, values in arrays.items() if values is not None})


def noisy(size):
    random = np.random.Generator(np.random.PCG64(1))
    return encode(
        {
            name: (a + size * random.standard_normal(a.shape)).astype(np.float32)
            for name, a in sorted(decode(WEIGHTS).items())  # the file has no order
        }
    )


def test_the_weights_of_the_solution_pass(check):
    result = check(WEIGHTS)
    assert (result.outcome, result.score) == ("passed", 2.0)
    assert any("weights: the loss on new text is 0.2" in note for note in result.remarks)


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        (b"", "there are no trained weights beside your file"),
        (b"no" * 100, "the file with the trained weights cannot be read"),
        (WEIGHTS[:-1], "the file with the trained weights cannot be read"),
        (WEIGHTS + b"\0" * 1_500_000, "the file with the trained weights is larger than 1.5 MB"),
        (changed(norm__weight=None), "the handed-in weights have no norm.weight"),
        (changed(norm__weight=np.ones(95, np.float32)), "wrong shape: (95,), expected (96,)"),
        (changed(norm__weight=np.full(96, np.nan, np.float32)), "the loss on new text is NaN or inf"),
        (noisy(0.03), "at most 0.35 required"),
    ],
    ids=["none", "noise", "cut", "large", "one missing", "another shape", "nan", "a poor model"],
)
def test_other_weights_fail_and_the_report_says_why(check, weights, says):
    result = check(weights)
    assert result.outcome == "failed"
    first = next(c for c in result.checks if c.outcome == "failed")
    assert says in first.message
    assert not result.diagnosis.lines


def test_a_fair_model_keeps_half(check):
    result = check(noisy(0.022))
    assert result.score == 1.0
    failed = [c for c in result.checks if c.outcome == "failed"]
    assert {c.facet for c in failed} == {"training"}


def test_a_file_that_need_not_have_weights_is_graded_without(check):
    assert not check(None).checks

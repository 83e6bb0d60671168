"""A fact says where two sizes that do not match come from, if the origin of both is clear."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from grader.bundle.model import RecordedCase
from grader.diagnosis.sizes import of_sizes
from grader.judge.observation import StudentError

TWO = "The size of tensor a ({a}) must match the size of tensor b ({b}) at non-singleton dimension 2"


@pytest.fixture
def case(bundles) -> RecordedCase:
    """Return a case with the input `x` (7, 5, 12) and the arguments d_model=12 and n_head=3."""
    exercise = next(e for b in bundles for e in b.exercises if e.name == "TangledSelfAttention")
    case = exercise.cases[0]
    assert case.tensors["x"].shape == (7, 5, 12)
    return case


def says(case, message, type="RuntimeError"):
    return [fact.says for fact in of_sizes(StudentError(type, message, None, "call"), case)]


def test_sizes_are_axes_of_inputs_and_quotients_of_arguments(case):
    assert says(case, TWO.format(a=5, b=4)) == [
        "sizes that do not match: 5 (axis 1 of `x`) and 4 (`d_model / n_head`)"
    ]


def test_a_size_with_two_origins_names_both(case):
    assert says(case, TWO.format(a=12, b=7)) == [
        "sizes that do not match: 12 (axis 2 of `x`, `d_model`) and 7 (axis 0 of `x`)"
    ]


def test_a_size_of_unknown_origin_is_not_explained(case):
    assert says(case, TWO.format(a=5, b=6)) == []


def test_a_size_with_many_origins_is_not_explained(case):
    square = replace(case, tensors={"x": np.zeros((12, 12, 5))})
    assert says(square, TWO.format(a=12, b=5)) == []


def test_an_exception_about_something_else_has_no_sizes(case):
    assert says(case, "expected 5 arguments, not 4", "TypeError") == []
    assert of_sizes(None, case) == []


def test_a_number_of_thousands_of_digits_is_no_size(case):
    assert says(case, TWO.format(a="9" * 5000, b=5)) == []

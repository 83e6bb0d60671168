"""A fact says where two sizes that do not match come from, if the origin of both is clear."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from grader.bundle.model import RecordedCase
from grader.diagnosis.facts import of_sizes
from grader.judge.observation import StudentError

TWO = "The size of tensor a ({a}) must match the size of tensor b ({b}) at non-singleton dimension 2"


@pytest.fixture
def cases(bundles) -> list[RecordedCase]:
    """Return cases whose input `x` is (7, 5, 12), (7, 9, 6) and (7, 4, 5), with d_model / n_head = 4, 2 and 5."""
    exercise = next(e for b in bundles for e in b.exercises if e.name == "TangledSelfAttention")
    by_id = {case.id: case for case in exercise.cases}
    found = [by_id[name] for name in ("longer-than-a-head", "narrow-heads", "one-head")]
    assert [case.tensors["x"].shape for case in found] == [(7, 5, 12), (7, 9, 6), (7, 4, 5)]
    return found


def says(cases, *sizes, message=TWO, type="RuntimeError", lines=(3, 3, 3)):
    """Return the facts about exceptions with these pairs of sizes, one per case. lines: those that raised them."""
    errors = [
        (StudentError(type, message.format(a=a, b=b), ("own.py", line, "x + y"), "call"), case)
        for (a, b), case, line in zip(sizes, cases, lines, strict=False)
    ]
    return [fact.says for fact in of_sizes(errors)]


def test_sizes_are_axes_of_inputs_and_quotients_of_arguments(cases):
    assert says(cases, (5, 4), (9, 2), (4, 5)) == [
        "sizes that do not match: 5 (axis 1 of `x`) and 4 (`d_model / n_head`)"
    ]


def test_a_size_with_two_origins_names_both(cases):
    assert says(cases, (12, 5), (6, 9)) == [
        "sizes that do not match: 12 (axis 2 of `x`, `d_model`) and 5 (axis 1 of `x`)"
    ]


@pytest.mark.parametrize(
    ("sizes", "lines"),
    [
        ([(12, 6), (6, 4)], (3, 3)),  # no origin of the second size
        ([(12, 7), (6, 3)], (3, 3)),  # 7 is the first axis of `x` only by chance
        ([(12, 7), (6, 7)], (3, 3)),  # the second size never changes
        ([(12, 5)], (3,)),  # one case is not enough
        ([(12, 5), (6, 9)], (4, 3)),  # another line raised the second exception
    ],
)
def test_a_size_is_explained_only_if_cases_of_other_sizes_agree(cases, sizes, lines):
    assert says(cases, *sizes, lines=lines) == []


def test_a_size_with_many_origins_is_not_explained(cases):
    square = [
        replace(case, tensors={"x": np.zeros((n, n, 3))}) for case, n in zip(cases, (12, 6), strict=False)
    ]
    assert says(square, (12, 4), (6, 2)) == []


def test_an_exception_about_something_else_has_no_sizes(cases):
    assert says(cases, (5, 4), (9, 2), message="expected {a} arguments, not {b}", type="TypeError") == []
    assert of_sizes([(None, cases[0])]) == of_sizes([]) == []


def test_a_number_of_thousands_of_digits_is_no_size(cases):
    assert says(cases, ("9" * 5000, 5), ("9" * 5001, 9)) == []

"""Judges of shapes, arguments, parameters, plain values and exceptions."""

import numpy as np
import pytest

from grader.judge.observation import Seen, StudentError
from grader.worker.steps import Filled, Load

WANT = np.ones((2, 3))
STEPS = (Load("m", {"W_q.weight": "m.W_q.weight", "W_o.weight": Filled((4, 4))}),)
# What a worker observes of parameters that fit.
NOTHING = {"missing": [], "unexpected": [], "misshapen": [], "shared": [], "layout": "", "shapes": {}}


def test_a_result_must_have_the_expected_dtype(decide):
    assert decide("shape", {"out": WANT}, {"out": WANT.astype(np.float32)}).passed
    found = decide("shape", {"out": WANT}, {"out": WANT})
    assert found.message == "wrong dtype: float64, expected float32"


def test_any_floating_dtype_passes_if_the_case_allows_it(decide):
    assert decide("shape", {"out": WANT}, {"out": WANT}, any_float=True).passed
    assert not decide("shape", {"out": WANT}, {"out": np.ones((2, 3), dtype=np.int64)}, any_float=True).passed


def test_arguments_must_have_exactly_the_same_values(decide):
    def unchanged(after, before):
        return decide("unchanged", {"after X": before}, {"after X": after}, tensors={"X": before})

    for before in (np.array([1.0, np.nan, 3.0]), np.array([1, 2]), np.array([True, False])):
        assert unchanged(before, before).passed
        assert not unchanged(before[::-1], before).passed
    found = unchanged(before=np.array([1.0, np.nan, 3.0]), after=np.array([1.0, np.nan, 3.0 + 1e-12]))
    assert (found.message, found.where) == ("the argument X was modified in place", "[2]")


@pytest.fixture
def parameters(decide):
    """Return a function that judges parameters; its arguments are what differs from parameters that fit."""

    def judged(may_have=(), **observed):
        weights = {"m.W_q.weight": np.ones((4, 5))}
        more = {"steps": STEPS, "tensors": weights, "may_have": may_have}
        return decide("parameters", {"parameters": 0}, {}, parameters=NOTHING | observed, **more)

    return judged


def test_parameters_pass_if_all_were_found(decide, parameters):
    assert parameters().passed
    assert parameters(layout="one fused projection").passed
    assert parameters(unexpected=["W_k.bias"], may_have=["W_k.bias"]).passed
    assert not parameters(unexpected=["W_k.bias"], may_have=["W_v.bias"]).passed
    assert not decide("parameters", {"parameters": 0}, {}, steps=STEPS, parameters=None).passed


def test_wrong_parameters_are_reported_with_names_and_shapes(parameters):
    found = parameters(missing=["W_q.weight"], unexpected=["proj.weight"], shapes={"proj.weight": [7, 5]})
    assert "missing: W_q.weight" in found.message
    assert "unexpected: proj.weight" in found.message
    assert (found.expected, found.got) == ("W_q.weight (4, 5)", "proj.weight (7, 5)")
    assert parameters(misshapen=["W_o.weight"]).expected == "W_o.weight (4, 4)"
    shared = parameters(shared=[["W_q.weight", "W_k.weight"]])
    assert "W_q.weight and W_k.weight share the same parameter" in shared.message


@pytest.mark.parametrize(
    ("got", "want", "passed"),
    [
        (True, True, True),
        (False, True, False),
        (1, True, False),
        (3, 3, True),
        (3.0, 3, True),
        (None, 3, False),
    ],
)
def test_a_plain_value_must_equal_the_expected_one(decide, got, want, passed):
    found = decide("value", {"flag": 0}, {}, values={"flag": got}, want=want, says="it is blind")
    assert (found.passed, found.message) == (passed, "" if passed else "it is blind")


def test_a_result_that_is_not_a_plain_value_fails(decide):
    found = decide("value", {"flag": 0}, {"flag": Seen(odd="a list of 3")}, want=True)
    assert "got a list of 3" in found.message
    assert not decide("value", {"flag": 0}, {}, want=True).passed


def test_the_right_exception_must_be_raised(decide):
    def raised(type):
        error = StudentError(type, "", None, "call") if type else None
        return decide("raises", {"out": WANT}, {}, error=error, type="ValueError")

    assert raised("ValueError").passed
    assert raised("TypeError").message == "expected ValueError to be raised, got TypeError"
    assert raised("").message == "expected ValueError to be raised, but nothing was raised"


@pytest.mark.parametrize(
    ("counts", "of", "params", "message"),
    [
        ({"a": 9}, ("a",), {"limit": 9}, ""),
        ({"a": 0}, ("a",), {"limit": 9}, ""),
        ({"a": 10}, ("a",), {"limit": 9}, "too dear (10; at most 9)"),
        ({"a": 70, "b": 100}, ("a", "b"), {"share": 0.7}, ""),
        ({"a": 0, "b": 0}, ("a", "b"), {"share": 0.7}, ""),
        ({"a": 71, "b": 100}, ("a", "b"), {"share": 0.7}, "too dear (71; at most 70)"),
        ({"a": 1, "b": 0}, ("a", "b"), {"share": 0.7}, "too dear (1; at most 0)"),
    ],
)
def test_a_count_is_at_most_a_limit_or_a_share_of_another_count(decide, counts, of, params, message):
    found = decide("at_most", {}, {}, of=of, values=counts, says="too dear", **params)
    assert (found.passed, found.message) == (not message, message)


@pytest.mark.parametrize("count", [None, -1, True, 1.5, float("nan"), 10**400])
def test_a_count_that_is_none_fails(decide, count):
    assert not decide("at_most", {}, {}, of=("a",), values={"a": count}, limit=9, says="too dear").passed
    both = {"a": 1, "b": count}
    assert not decide("at_most", {}, {}, of=("a", "b"), values=both, share=0.7, says="too dear").passed


@pytest.mark.parametrize(("tried", "passed"), [(1, True), (2, False), (0, False), (None, False)])
def test_an_attempt_must_raise_the_exception_that_is_asked_for(decide, tried, passed):
    assert decide("attempted", {}, {}, of=("a",), values={"a": tried}, type="ValueError").passed is passed


def test_a_law_names_the_first_tokens_with_another_probability(decide):
    want = np.array([[0.5, 0.25], [0.25, 0.0]])
    assert decide("law", {"law": want}, {"law": want + 1e-12}).passed
    assert not decide("law", {"law": want}, {"law": np.array([[0.5, 0.25], [0.25 + 1e-8, -1e-8]])}).passed
    found = decide("law", {"law": want}, {"law": np.array([[0.5, 0.3125], [0.1875, 0.0]])})
    assert found.message == "the probability of the tokens (0, 1) is 0.3125 instead of 0.25"
    assert (found.expected, found.got) == ("0.25", "0.3125")


@pytest.mark.parametrize("got", [np.full((2, 2), np.nan), np.ones(2), np.ones((2, 2), dtype=np.int64)])
def test_what_is_no_law_fails(decide, got):
    assert not decide("law", {"law": np.full((2, 2), 0.25)}, {"law": got}).passed

"""Judges of shapes, arguments, parameters, plain values and exceptions."""

import numpy as np
import pytest

from grader.judge.observation import Seen, StudentError

WANT = np.ones((2, 3))
STEPS = (
    {"do": "load", "module": "m", "weights": {"W_q.weight": "m.W_q.weight", "W_o.weight": {"shape": [4, 4]}}},
)
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
    before = {"X": np.array([1.0, np.nan, 3.0])}
    want = {"after X": before["X"]}
    assert decide("unchanged", want, {"after X": before["X"]}, tensors=before).passed
    found = decide("unchanged", want, {"after X": before["X"] + [0, 0, 1e-12]}, tensors=before)
    assert found.message == "the argument X was modified in place"
    assert found.where == "[2]"


def test_arguments_of_integers_and_booleans_are_compared(decide):
    for before in (np.array([1, 2]), np.array([True, False])):
        assert decide("unchanged", {"after X": before}, {"after X": before}, tensors={"X": before}).passed
        assert not decide(
            "unchanged", {"after X": before}, {"after X": before[::-1]}, tensors={"X": before}
        ).passed


def parameters(decide, **observed):
    return decide(
        "parameters",
        {"parameters": 0},
        {},
        steps=STEPS,
        tensors={"m.W_q.weight": np.ones((4, 5))},
        parameters=NOTHING | observed,
    )


def test_parameters_pass_if_all_were_found(decide):
    assert parameters(decide).passed
    assert parameters(decide, layout="one fused projection").passed


def test_missing_parameters_are_reported_with_names_and_shapes(decide):
    found = parameters(
        decide, missing=["W_q.weight"], unexpected=["proj.weight"], shapes={"proj.weight": [7, 5]}
    )
    assert "missing: W_q.weight" in found.message
    assert "unexpected: proj.weight" in found.message
    assert found.expected == "W_q.weight (4, 5)"
    assert found.got == "proj.weight (7, 5)"


def test_shapes_and_sharing_are_reported(decide):
    assert parameters(decide, misshapen=["W_o.weight"]).expected == "W_o.weight (4, 4)"
    assert (
        "W_q.weight and W_k.weight share the same parameter"
        in parameters(decide, shared=[["W_q.weight", "W_k.weight"]]).message
    )


def test_parameters_that_were_not_observed_fail(decide):
    assert not decide("parameters", {"parameters": 0}, {}, steps=STEPS, parameters=None).passed


def test_a_further_parameter_passes_only_if_the_case_allows_it(decide):
    observed = NOTHING | {"unexpected": ["W_k.bias"]}
    tensors = {"m.W_q.weight": np.ones((4, 5))}
    assert decide(
        "parameters",
        {"parameters": 0},
        {},
        steps=STEPS,
        tensors=tensors,
        parameters=observed,
        may_have=["W_k.bias"],
    ).passed
    assert not decide(
        "parameters",
        {"parameters": 0},
        {},
        steps=STEPS,
        tensors=tensors,
        parameters=observed,
        may_have=["W_v.bias"],
    ).passed


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
    assert decide("value", {"flag": 0}, {}, values={"flag": got}, want=want).passed == passed


def test_a_result_that_is_not_a_plain_value_fails(decide):
    found = decide("value", {"flag": 0}, {"flag": Seen(odd="a list of 3")}, want=True)
    assert "got a list of 3" in found.message
    assert not decide("value", {"flag": 0}, {}, want=True).passed


def test_a_wrong_plain_value_gets_the_sentence_of_the_case(decide):
    found = decide("value", {"flag": 0}, {}, values={"flag": False}, want=True, says="it is blind")
    assert found.message == "it is blind"


def test_the_right_exception_must_be_raised(decide):
    def raised(error):
        return decide("raises", {"out": WANT}, {}, error=error, type="ValueError")

    assert raised(StudentError("ValueError", "", None, "call")).passed
    assert (
        raised(StudentError("TypeError", "", None, "call")).message
        == "expected ValueError to be raised, got TypeError"
    )
    assert raised(None).message == "expected ValueError to be raised, but nothing was raised"

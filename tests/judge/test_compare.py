"""Judges of values and properties: they check shape and dtype first. An answer cannot widen the tolerance."""

import numpy as np
import pytest

from grader.judge.compare import TOLERANCE, differs
from grader.judge.observation import Seen

WANT = np.random.default_rng(0).standard_normal((2, 3, 5))
AXES = ("batch", "query", "key")
INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    "got",
    [
        pytest.param(np.empty((0, 3, 5)), id="empty"),
        pytest.param(np.empty((2, 3, 0)), id="empty on the last axis"),
        pytest.param(WANT[:, :1], id="broadcastable"),
        pytest.param(WANT.mean(), id="a scalar"),
        pytest.param(WANT[None], id="one more axis"),
        pytest.param(WANT.ravel(), id="flattened"),
        pytest.param(WANT.transpose(1, 0, 2), id="transposed"),
    ],
)
@pytest.mark.parametrize("judge", ["equal", "shape", "one_of", "kept_weights"])
def test_another_shape_fails_before_values_are_compared(decide, judge, got):
    found = decide(judge, {"out": WANT}, {"out": got}, axes=AXES)
    assert not found.passed
    assert found.code.startswith("shape")
    assert "(2, 3, 5)  [batch, query, key]" in found.message


def test_an_empty_reference_equals_only_an_empty_answer_of_its_shape(decide):
    assert decide("equal", {"out": np.empty((0, 5))}, {"out": np.empty((0, 5))}).passed
    assert not decide("equal", {"out": np.empty((0, 5))}, {"out": np.empty((0, 4))}).passed


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e38])
def test_one_bad_value_fails_and_its_place_is_reported(decide, bad):
    got = WANT.copy()
    got[1, 2, 3] = bad
    found = decide("equal", {"out": WANT}, {"out": got}, axes=AXES)
    assert not found.passed
    assert found.where == "batch 1, query 2, key 3"


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_infinities_are_reported_by_name(decide, bad):
    got = np.where(WANT.max() == WANT, bad, WANT)
    assert (
        f"{'NaN' if np.isnan(bad) else 'inf'} (1 of 30"
        in decide("equal", {"out": WANT}, {"out": got}).message
    )


@pytest.mark.parametrize(
    ("got", "want", "tolerance", "is_different"),
    [
        (1.0, 1.0 + 1e-5, 1e-5, False),
        (1.0, 1.0 + 3e-5, 1e-5, True),
        (1e30, 1.0, 0.9, True),
        # The tolerance is 0.9 · (1 + 50); relative to the answer, 100, it would accept the answer.
        (100.0, 50.0, 0.9, True),
        (50.0, 100.0, 0.9, False),
        (INF, INF, 1e-5, False),
        (-INF, INF, 1e-5, True),
        (3.0, INF, 1e-5, True),
        (INF, 3.0, 1e-5, True),
        (NAN, NAN, 1e-5, False),
        (3.0, NAN, 1e-5, True),
        (NAN, 3.0, 1e-5, True),
        (NAN, INF, 1e-5, True),
    ],
)
def test_values_differ_beyond_a_tolerance_relative_to_the_reference(got, want, tolerance, is_different):
    assert differs(np.array([got]), np.array([want]), tolerance).tolist() == [is_different]


@pytest.mark.parametrize(("dtype", "tolerance"), TOLERANCE.items())
def test_the_tolerance_of_each_dtype_is_applied(decide, dtype, tolerance):
    assert decide("equal", {"out": WANT}, {"out": WANT + 0.9 * tolerance}, dtype=dtype).passed
    assert not decide(
        "equal", {"out": WANT}, {"out": WANT + 2 * tolerance * (1 + np.abs(WANT))}, dtype=dtype
    ).passed


def test_a_case_may_widen_the_tolerance(decide):
    assert decide("equal", {"out": WANT}, {"out": WANT.astype(np.float32)}).passed
    assert not decide("equal", {"out": WANT}, {"out": WANT + 1e-4}).passed
    assert decide("equal", {"out": WANT}, {"out": WANT + 1e-4}, tol=2e-4).passed


@pytest.mark.parametrize(("want", "got"), [("f8", "int64"), ("f8", "bool"), ("i8", "float64")])
def test_another_kind_of_dtype_fails(decide, want, got):
    found = decide("equal", {"out": np.ones(3, want)}, {"out": np.ones(3, got)})
    assert found.code == f"dtype {got}"


@pytest.mark.parametrize(
    ("got", "sentence"),
    [
        ({}, "no output was observed"),
        ({"out": Seen(odd="a tuple of 2")}, "expected a tensor, got a tuple of 2"),
        # The worker sent only the shape.
        ({"out": Seen(shape=(2, 3, 5), odd="a tensor")}, "expected a tensor, got a tensor"),
    ],
)
def test_a_result_that_is_not_a_tensor_is_reported(decide, got, sentence):
    found = decide("equal", {"out": WANT}, got)
    assert not found.passed
    assert sentence in found.message


def test_every_result_of_a_check_must_be_right(decide):
    want = {"grad X": WANT, "grad W": WANT}
    assert decide("equal", want, want).passed
    found = decide("equal", want, {"grad X": WANT, "grad W": np.zeros_like(WANT)}, axes=AXES)
    assert "the gradient of W is all zeros" in found.message
    assert found.where == "grad W"
    found = decide("equal", want, {"grad X": WANT, "grad W": WANT * [1, 2, 1, 1, 1]}, axes=AXES)
    assert found.where == "grad W: batch 0, query 0, key 1"


def test_expected_and_actual_show_values_near_the_first_difference(decide):
    want = np.arange(10_000.0).reshape(100, 100)
    got = want.copy()
    got[50, 60] = -1
    found = decide("equal", {"out": want}, {"out": got})
    assert "5060" in found.expected
    assert "-1" in found.got
    assert found.where == "[50, 60]"
    assert len(found.got.splitlines()) <= 4
    assert max(map(len, found.got.splitlines())) < 60


@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 3), (1, 1, 1), (2, 2, 2, 2)])
def test_a_difference_in_any_number_of_axes_can_be_reported(decide, shape):
    found = decide("equal", {"out": np.ones(shape)}, {"out": np.zeros(shape)})
    assert not found.passed
    assert (found.expected.split()[0], found.got.split()[0]) == ("1", "0")


def test_either_of_two_accepted_answers_passes_and_a_mixture_does_not(decide):
    want = {"out": WANT, "out|turned": -WANT}
    assert decide("one_of", want, {"out": WANT}, of=("out",)).passed
    assert decide("one_of", want, {"out": -WANT}, of=("out",)).passed
    assert not decide(
        "one_of", want, {"out": WANT * np.sign(np.arange(30) - 14.5).reshape(2, 3, 5)}, of=("out",)
    ).passed


def test_results_that_must_agree_are_compared_with_each_other(decide):
    want = {"left": WANT, "right": WANT}
    assert decide("same", want, {"left": WANT * 7, "right": WANT * 7}).passed
    found = decide("same", want, {"left": WANT, "right": WANT + 1e-3}, says="they differ")
    assert found.message == "they differ"
    assert not decide("same", want, {"left": WANT, "right": WANT[:1]}).passed
    assert not decide("same", want, {"left": WANT, "right": WANT * np.nan}).passed


def test_rows_of_weights_sum_to_one(decide):
    rows = np.full((2, 4), 0.25)
    assert decide("sums_to_one", {"w": rows}, {"w": rows}).passed
    found = decide("sums_to_one", {"w": rows}, {"w": rows * np.array([[1], [2]])}, axes=("query", "key"))
    assert "sum to 2.0000" in found.message
    assert found.where == "query 1"
    assert not decide("sums_to_one", {"w": rows}, {"w": rows * np.nan}).passed


def test_a_matrix_must_map_rows_to_their_images(decide):
    matrix = np.random.default_rng(1).standard_normal((3, 3))
    rows = np.random.default_rng(2).standard_normal((5, 3))
    tensors = {"P": rows, "Q": rows @ matrix.T}
    params = {"rows": "P", "images": "Q", "says": "it does not shift"}
    assert decide("carries", {"M": matrix}, {"M": matrix}, for_judge=tensors, **params).passed
    assert (
        decide("carries", {"M": matrix}, {"M": matrix.T}, for_judge=tensors, **params).message
        == "it does not shift"
    )


def test_one_expected_row_shows_that_the_code_ran(decide):
    rows = np.array([[3, 4, 2], [5, 6, 2]])
    never = np.full((2, 3), -2)
    says = {"says": "it did not train"}
    assert decide("witnessed", {"rows": rows}, {"rows": rows}, **says).passed
    assert decide("witnessed", {"rows": rows}, {"rows": np.stack([rows[0], never[1]])}, **says).passed
    assert decide("witnessed", {"rows": rows}, {"rows": never}, **says).message == "it did not train"
    assert not decide("witnessed", {"rows": rows}, {"rows": np.full((2, 3), 3)}, **says).passed
    assert not decide("witnessed", {"rows": rows}, {"rows": rows[:, :2]}, **says).passed


def test_stored_weights_of_layers_may_be_missing_but_not_wrong(decide):
    weights = np.full((2, 1, 1, 2, 2), 0.5)

    def found(seen):
        return decide("kept_weights", {"w": weights}, {"w": seen}, may_miss=True)

    assert found(Seen(odd="None")).passed
    assert found(weights).passed
    assert found(Seen(odd="a list of 4")).message.startswith("`attention_weights` is a list of 4;")
    assert found(np.concatenate([weights, weights])).code == "shape (4, 1, 1, 2, 2)"
    assert not found(weights * 2).passed


def test_optional_stored_weights_are_compared_if_their_shape_fits(decide):
    weights = np.full((1, 2, 2), 0.5)
    assert not decide("kept_weights", {"w": weights}, {}).passed
    assert not decide("kept_weights", {"w": weights}, {"w": Seen(odd="None")}).passed
    assert decide("kept_weights", {"w": weights}, {}, optional=True).passed
    assert decide("kept_weights", {"w": weights}, {"w": weights[0]}, optional=True).passed
    doubled = decide("kept_weights", {"w": weights}, {"w": weights * 2}, optional=True)
    assert doubled.message == "`attention_weights` differs from the expected weights"
    assert decide("kept_weights", {"w": weights}, {"w": weights}).passed


def test_an_index_must_be_the_right_one_in_every_dtype_of_the_inputs(decide):
    want = np.array([70, 89])
    assert decide("precise", {"out": want}, {"out": want}, dtype="bfloat16").passed
    assert not decide("precise", {"out": want}, {"out": want + 1}, dtype="bfloat16").passed

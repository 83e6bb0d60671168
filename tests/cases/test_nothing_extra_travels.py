"""A worker receives only tensors that a step uses, and no expected tensor can be read from them."""

import secrets
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import permutations

import numpy as np
import pytest
from helpers.command_line import ROOT
from helpers.lanes import first_of_each

from grader.authoring.content import read_all
from grader.authoring.record import record, require_used
from grader.bundle.model import Bundle
from grader.bundle.safetensors import Array
from grader.cases.case import Case
from grader.judge.observation import Observation, Seen
from grader.judge.verdict import decide
from grader.support.errors import UsageError
from grader.worker.steps import Ref

COURSE = {assignment.name: assignment for assignment in read_all(ROOT / "solutions")}

# Exercises whose expected output, or its gradient, is an argument in another arrangement.
REARRANGES = (
    *("transpose_qkv", "transpose_output", "PositionalEncoding"),
    *("interleaved_to_half", "KVCache", "repeat_kv", "RingCache"),
)


def recovered(sent: Mapping[str, Array], secret: Array) -> str:
    """Return the name of the sent tensor, or of the two, from which the secret follows; "" if there is none.

    The secret follows from a tensor if both are equal after scaling, transposing or reordering rows. It follows from
    two sent tensors if the secret is the matrix that maps one to the other.
    """
    if len(np.unique(secret)) < 4:  # tensors with few values are equal by chance
        return ""
    wanted = _in_order(secret)
    for name, tensor in sent.items():
        if tensor.size == secret.size and 0 < tensor.ndim <= 4:
            for axes in permutations(range(tensor.ndim)):
                transposed = tensor.astype(np.float64).transpose(axes).reshape(wanted.shape)
                if any(_near(_in_order(sign * transposed), wanted) for sign in (1, -1)):
                    return name
    for name, matrix in _maps(sent):
        if matrix.size == secret.size and any(
            _near(_scaled(m), _scaled(secret.reshape(matrix.shape))) for m in (matrix, matrix.T)
        ):
            return name
    return ""


def _in_order(array: Array) -> Array:
    """Return an array as a matrix, with sorted rows and the largest absolute value 1."""
    rows = np.atleast_1d(_scaled(array))
    rows = rows.reshape(-1, rows.shape[-1])
    return rows[np.lexsort(np.round(rows, 5).T)]


def _scaled(array: Array) -> Array:
    array = _finite(array)
    largest = np.abs(array).max()
    return array / largest if largest else array


def _finite(array: Array) -> Array:
    return np.nan_to_num(array.astype(np.float64), neginf=0.0)  # -inf is the lse of no keys


def _near(one: Array, other: Array) -> bool:
    return one.shape == other.shape and bool(np.allclose(one, other, atol=1e-4))


def _maps(sent: Mapping[str, Array]) -> Iterator[tuple[str, Array]]:
    """Yield the least-squares map from each tensor to each other tensor with as many rows."""
    rows = {
        name: _finite(tensor).reshape(-1, tensor.shape[-1])
        for name, tensor in sent.items()
        if tensor.ndim > 1 and tensor.size <= 4096
    }
    for one, other in permutations(rows, 2):
        if len(rows[one]) == len(rows[other]):
            yield f"{one} → {other}", np.linalg.lstsq(rows[one], rows[other], rcond=None)[0]


def leaks(bundle: Bundle) -> Iterator[str]:
    """Yield a sentence for each expected tensor that follows from a sent tensor.

    Also yield a sentence for each sent tensor that only a judge needs.
    The tensors of all cases of an exercise are searched, because one message to the worker may have several cases.
    """
    for exercise in bundle.exercises:
        searched = () if exercise.name in REARRANGES else exercise.cases
        for case in exercise.cases:
            for name, secret in {**case.expected, **case.for_judge}.items():
                for other in searched:
                    if origin := recovered(other.tensors, secret):
                        yield f"{exercise.name}/{case.id}: {name} follows from {origin} of {other.id}"
            for check in case.checks:
                for name in {value for value in check.params.values() if isinstance(value, str)}:
                    if name in case.tensors:
                        yield f"{exercise.name}/{case.id}: {name} is for the judge {check.judge} alone"


@pytest.mark.parametrize("name", first_of_each(COURSE))
def test_no_expected_tensor_follows_from_what_is_sent(name: str, bundles: list[Bundle]):
    public = next(bundle for bundle in bundles if bundle.assignment == name)
    assert not list(leaks(public))
    assert not list(leaks(recorded(name)))


@cache
def recorded(name: str) -> Bundle:
    """Record an assignment's bundle for a new seed."""
    return record(COURSE[name], secrets.token_hex(16), diagnosis=False)


@pytest.mark.slow
def test_an_input_that_no_step_uses_is_refused():
    case = Case("one", "f")
    X = case.input("X", np.ones((2, 3)))
    case.input("answer", np.ones((2, 3)))
    case.call(X)
    case.check_unchanged(Ref("answer"))
    with pytest.raises(UsageError, match="no step uses answer"):
        require_used(case)


@pytest.mark.slow
def test_a_tensor_for_the_judge_is_recorded_and_not_sent():
    case = Case("one", "f")
    case.call(case.input("X", np.ones(3)))
    assert case.hold_for_judge("answer", np.arange(3.0)) == "answer"
    require_used(case)
    assert (list(case.tensors), list(case.for_judge)) == (["X"], ["answer"])


@pytest.mark.slow
@pytest.mark.parametrize("scale", [0.0, 1.0], ids=["zeros", "noise"])
def test_a_reply_without_a_training_fails_the_training_loop(scale: float):
    case = next(c for c in recorded("11_capstone").exercise("train").cases if c.id == "loop")
    rng = np.random.default_rng(1)
    seen = {
        name: Seen(header.shape, header.dtype, scale * rng.standard_normal(header.shape))
        for name, header in case.headers.items()
        if header.dtype != "value"
    }
    values = {c.of[0]: c.params["want"] for c in case.checks if c.judge == "value"}
    passed = {c.id for c in case.checks if decide(c, case, Observation(seen, values=values)).passed}
    # They check the number of steps, and the shapes: both are known.
    assert passed == {"loop/gradients", "loop/shapes"}

"""Recognise trivial answers: constants, inputs returned, means of inputs, copied tokens."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from grader.bundle.model import RecordedCase
from grader.bundle.safetensors import Array
from grader.judge.finding import differs
from grader.judge.normalise import EMPTY
from grader.judge.observation import Observation


def is_trivial(observations: Iterable[tuple[RecordedCase, Observation]]) -> bool:
    """Return whether every result that `equal` or `sentences` judges for values or masking is trivial.

    Trivial is a constant, an input, its mean over an axis, or its tokens; a right result is not. Results whose expected
    output is trivial too are skipped; False if none is left. Call this function only for answers with wrong values.
    """
    judged = 0
    for case, observation in observations:
        for check in case.checks:
            if check.judge not in ("equal", "sentences") or check.facet not in ("values", "masking"):
                continue
            for name in check.of:
                seen, want = observation.seen.get(name), case.expected[name]
                if seen is None or seen.array is None or _computed_nothing(want, case):
                    continue
                judged += 1
                if seen.array.shape == want.shape and not differs(seen.array, want, 1e-3).any():
                    return False
                if not _computed_nothing(seen.array, case):
                    return False
    return judged > 0


def _computed_nothing(array: Array, case: RecordedCase) -> bool:
    if array.size > 0 and np.ptp(np.nan_to_num(array.astype(np.float64))) == 0:
        return True
    return any(
        _is_returned(array, tensor) or _is_mean(array, tensor) or _is_copied(array, tensor)
        for tensor in case.tensors.values()
    )


def _is_returned(array: Array, tensor: Array) -> bool:
    parts = [tensor]  # in any shape
    if array.ndim == tensor.ndim:
        parts.append(
            tensor[tuple(slice(size) for size in array.shape)]
        )  # a case may observe only the first steps
    return any(array.size == part.size and np.array_equal(array.ravel(), part.ravel()) for part in parts)


def _is_copied(array: Array, tensor: Array) -> bool:
    if array.ndim != 2 or tensor.ndim != 2 or len(array) != len(tensor) or array.dtype.kind != "i":
        return False
    width = min(array.shape[1], tensor.shape[1])
    part = array[:, :width]
    return bool(((part == EMPTY) | (part == tensor[:, :width])).all() and (array[:, width:] == EMPTY).all())


def _is_mean(array: Array, tensor: Array) -> bool:
    if tensor.dtype.kind != "f":
        return False
    for axis in range(tensor.ndim):
        mean = tensor.astype(np.float64).mean(axis, keepdims=True)
        fits = mean.ndim == array.ndim and all(
            m in (1, n) for m, n in zip(mean.shape, array.shape, strict=True)
        )
        if fits and np.allclose(array, mean, atol=1e-5):
            return True
    return False

"""Compare results: what all judges share, the judges of values, and whether an answer computes anything at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from grader.bundle.model import Check, Header, RecordedCase
from grader.bundle.safetensors import Array
from grader.judge.observation import EMPTY, Observation, Seen
from grader.report.finding import PASSED, Finding, Spot
from grader.support.errors import GraderError

Judge = Callable[[Check, RecordedCase, Observation], Finding]
JUDGES: dict[str, Judge] = {}


def judge(function: Judge) -> Judge:
    """Register a judge under the name of its function."""
    JUDGES[function.__name__] = function
    return function


def finding_where(
    rule: str, want: Array, got: Array, wrong: Array, axes: Sequence[str], **data: object
) -> Finding:
    """Return a failure with the first place where `wrong` is true, and its surroundings in `want` and `got`.

    PASSED if it is true nowhere. The three arrays have the same shape. data: the values of the rule's placeholders.
    """
    if not wrong.any():
        return PASSED
    index = first_index(wrong)
    return Finding(rule, data, Spot(index, tuple(axes)), around(want, index), around(got, index))


class Wrong(GraderError):
    """Raised by a judge that has found a failure and need not look further."""

    def __init__(self, finding: Finding):
        super().__init__(finding.rule)
        self.finding = finding


def header_of(name: str, case: RecordedCase) -> Header:
    """Return the header of an observation of a case, or of its exam (a case that measures a trained model)."""
    exam = case.exam
    return case.headers[name] if exam is None or name in case.headers else exam.headers[name]


def values_of(name: str, case: RecordedCase, observation: Observation) -> Array:
    """Return the values of an observed tensor, in the reference's shape.

    Raises Wrong if it is missing, or not of the expected shape and kind of dtype: floating or other.
    """
    seen = observation.seen.get(name)
    wrong = wrong_form(seen, header_of(name, case))
    if wrong is not None:
        raise Wrong(wrong)
    assert seen is not None and seen.array is not None
    return seen.array


def shape_text(shape: Sequence[int], axes: Sequence[str] = ()) -> str:
    """Return "(2, 3, 5)" with the names of the axes if they are known."""
    sizes = "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"
    names = ", ".join(axis.partition("/")[0] for axis in axes)
    return f"{sizes}  [{names}]" if axes and len(axes) == len(shape) else sizes


def wrong_form(seen: Seen | None, want: Header) -> Finding | None:
    """Return a failure if there is no tensor of the expected shape and kind of dtype; None if there is one."""
    if seen is not None and seen.array is not None and seen.shape == want.shape:
        return None if (want.dtype in FLOATS) == (seen.dtype in FLOATS) else wrong_dtype(seen, want)
    shown = shape_text(want.shape, want.axes)
    if seen is None:
        return Finding("absent", expected=shown)
    if seen.shape == want.shape or (seen.odd and seen.shape is None):
        return Finding("odd", {"what": seen.odd}, expected=shown, got=seen.odd)
    got = shape_text(seen.shape or ())
    return Finding("shape", {"got": got, "want": shown}, expected=shown, got=got)


def wrong_dtype(seen: Seen, want: Header) -> Finding | None:
    """Return a failure if a tensor has another dtype than expected; None otherwise."""
    if seen.dtype == want.dtype:
        return None
    return Finding("dtype", {"got": seen.dtype, "want": want.dtype}, expected=want.dtype, got=seen.dtype)


def first_index(wrong: Array) -> tuple[int, ...]:
    """Return the index of the first element that is true."""
    return tuple(int(i) for i in np.argwhere(wrong)[0])


def around(array: Array, index: Sequence[int]) -> str:
    """Return the surroundings of one element as a small aligned table of its last two axes."""
    rows, columns = 4, 6
    (height, width), (row, column) = (1, 1, *array.shape)[-2:], (0, 0, *index)[-2:]
    top, left = window(row, height, rows), window(column, width, columns)
    plane = np.atleast_2d(array[tuple(index[:-2])])
    part = plane[top : top + rows, left : left + columns].astype(np.float64)
    texts = list(map(number, part.ravel().tolist()))
    size = max(map(len, texts), default=0)
    cells = np.array([text.rjust(size) for text in texts], dtype=object).reshape(part.shape)
    return "\n".join(map("  ".join, cells))


def window(at: int, size: int, width: int) -> int:
    """Return where a part of `width` positions of an axis begins, so that position `at` is near its middle."""
    return max(0, min(at - width // 2, size - width))


def number(x: float) -> str:
    """Return a value as text: integers below 1e4 without a point, values from 1e-3 to 1e4 with four decimals.

    Smaller and larger ones look like 1.23e-05.
    """
    if np.isnan(x):
        return "NaN"
    if np.isinf(x):
        return "inf" if x > 0 else "-inf"
    if x == int(x) and abs(x) < 1e4:
        return f"{x + 0.0:.0f}"  # never "-0"
    return f"{x:.4f}" if 1e-3 <= abs(x) < 1e4 else f"{x:.2e}"


# Relative to 1 + |expected|. At least four times the largest difference of right answers written in many ways
# (docs/precision.md), which leaves room for another order of summation. float64 has the tolerance of float32, because
# an answer may compute in float32 inside.
TOLERANCE = {"float64": 1e-5, "float32": 1e-5, "float16": 0.05, "bfloat16": 0.25}
FLOATS = frozenset(TOLERANCE)


def differs(got: Array, want: Array, tolerance: float) -> Array:
    """Return True where `got` differs from `want` by more than `tolerance` · (1 + |`want`|). Two NaN do not differ."""
    got, want = got.astype(np.float64), want.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs(got - want) <= tolerance * (1 + np.abs(want))
    near &= np.isfinite(want)  # otherwise any value would be near infinity
    if not near.all():
        near |= (got == want) | (np.isnan(got) & np.isnan(want))
    return ~near


def tolerance_of(check: Check, case: RecordedCase) -> float:
    """Return the tolerance of the judge `equal`: the check's own `tol`, otherwise that of the dtype."""
    tolerance: float = check.params.get("tol", TOLERANCE[case.dtype])
    return tolerance


@judge
def equal(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """Every observation of the check equals the expected one. `tol`: the tolerance instead of the default."""
    tolerance = tolerance_of(check, case)
    for name in check.of:
        got = values_of(name, case, observation)
        found = compare(name, got, case.expected[name], case.headers[name].axes, tolerance)
        if not found.passed:
            return found
    return PASSED


# dtype → the dtypes with more digits that `precise` may accept too.
WIDER = {"float16": ("float32", "float64"), "bfloat16": ("float32", "float64"), "float64": ()}


@judge
def precise(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """The result is right in the dtype of the case, and has that dtype.

    `tol` widens the tolerance; `wider`: also accept a wider dtype, for example for scores that a loss uses.
    """
    (name,) = check.of
    got, seen, header = values_of(name, case, observation), observation.seen[name], case.headers[name]
    is_wider = check.params.get("wider", False) and seen.dtype in WIDER[header.dtype]
    wrong = None if is_wider else wrong_dtype(seen, header)
    # An index is right or wrong, in any dtype of the inputs.
    tolerance = max(TOLERANCE[case.dtype], check.params.get("tol", 0.0)) if header.dtype in FLOATS else 0.0
    return wrong or compare(name, got, case.expected[name], header.axes, tolerance)


@judge
def one_of(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """The observation equals the expected output, or the output of another accepted answer.

    The outputs of the other accepted answers are recorded as `name|id`. A wrong result is compared with the nearest.
    """
    (name,) = check.of
    got, tolerance = values_of(name, case, observation), TOLERANCE[case.dtype]
    accepted = [case.expected[name], *(a for n, a in case.expected.items() if n.startswith(f"{name}|"))]
    nearest = min(accepted, key=lambda want: int(differs(got, want, tolerance).sum()))
    return compare(name, got, nearest, case.headers[name].axes, tolerance)


def compare(name: str, got: Array, want: Array, axes: tuple[str, ...], tolerance: float) -> Finding:
    """Return a failure with the first place where two arrays of one shape differ; PASSED if they agree."""
    wrong = differs(got, want, tolerance)
    if not wrong.any():
        return PASSED
    of = name.removeprefix("grad ") if name.startswith("grad ") else None
    rule, data = _rule(got, want, wrong, of)
    found = finding_where(rule, want, got, wrong, axes, name=of, **data)
    if of is None:
        return found
    at = first_index(wrong) if got.any() else ()  # if all are zero, no place is better than another
    return replace(found, place=Spot(at, axes if at else (), name))


def _rule(got: Array, want: Array, wrong: Array, of: str | None) -> tuple[str, dict[str, object]]:
    """Return the rule of a difference, and the values of its placeholders. of: what a gradient is of."""
    total = wrong.size
    for word, is_bad in (("nan", np.isnan(got)), ("inf", np.isinf(got))):
        if is_bad[wrong].any():
            return f"values/{word}", {"count": int(is_bad.sum()), "total": total}
    if of is not None and not got.any():
        return "values/zero", {}
    with np.errstate(invalid="ignore", over="ignore"):
        largest = float(np.abs(got.astype(np.float64) - want.astype(np.float64))[wrong].max())
    return "values", {"count": int(wrong.sum()), "total": total, "largest": largest}


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
    if array.ndim == tensor.ndim:  # a case may observe only the first steps
        parts.append(tensor[tuple(map(slice, array.shape))])
    return any(np.array_equal(array.ravel(), part.ravel()) for part in parts)


def _is_copied(array: Array, tensor: Array) -> bool:
    if array.ndim != 2 or tensor.ndim != 2 or len(array) != len(tensor) or array.dtype.kind != "i":
        return False
    width = min(array.shape[1], tensor.shape[1])
    part = array[:, :width]
    return bool(((part == EMPTY) | (part == tensor[:, :width])).all() and (array[:, width:] == EMPTY).all())


def _is_mean(array: Array, tensor: Array) -> bool:
    if tensor.dtype.kind != "f" or array.ndim != tensor.ndim:
        return False
    for axis in range(tensor.ndim):
        mean = tensor.astype(np.float64).mean(axis, keepdims=True)
        fits = all(m in (1, n) for m, n in zip(mean.shape, array.shape, strict=True))
        if fits and np.allclose(array, mean, atol=1e-5):
            return True
    return False

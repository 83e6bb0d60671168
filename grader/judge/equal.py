"""Judges that compare values with the expected ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from grader.bundle.model import Check, RecordedCase
from grader.bundle.safetensors import Array
from grader.judge.finding import (
    TOLERANCE,
    differs,
    failed_where,
    first_index,
    judge,
    tensor,
    values_of,
    wrong_dtype,
)
from grader.judge.observation import Observation
from grader.report.finding import PASSED, Finding, Spot


@judge
def equal(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """Every observation of the check equals the expected one. `tol`: the tolerance instead of the default."""
    tolerance = check.params.get("tol", TOLERANCE[case.dtype])
    for name in check.of:
        got = values_of(name, case, observation)
        wrong = compare(name, got, case.expected[name], case.headers[name].axes, tolerance)
        if wrong is not None:
            return wrong
    return PASSED


# dtype → the dtypes with more digits that `precise` may accept too.
WIDER = {"float16": ("float32", "float64"), "bfloat16": ("float32", "float64"), "float64": ()}


@judge
def precise(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """The result is right in the dtype of the case, and has that dtype.

    `tol` widens the tolerance; `wider`: also accept a wider dtype, for example for scores that a loss uses.
    """
    (name,) = check.of
    seen, header = tensor(name, case, observation), case.headers[name]
    is_wider = check.params.get("wider", False) and seen.dtype in WIDER[header.dtype]
    wrong = None if is_wider else wrong_dtype(seen, header)
    tolerance = max(TOLERANCE[case.dtype], check.params.get("tol", 0.0))
    got = values_of(name, case, observation)
    return wrong or compare(name, got, case.expected[name], header.axes, tolerance) or PASSED


@judge
def one_of(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """The observation equals the expected output, or the output of another accepted answer.

    The outputs of the other accepted answers are recorded as `name|id`. A wrong result is compared with the nearest.
    """
    (name,) = check.of
    got, tolerance = values_of(name, case, observation), TOLERANCE[case.dtype]
    accepted = [case.expected[name], *(a for n, a in case.expected.items() if n.startswith(f"{name}|"))]
    nearest = min(accepted, key=lambda want: int(differs(got, want, tolerance).sum()))
    return compare(name, got, nearest, case.headers[name].axes, tolerance) or PASSED


def compare(name: str, got: Array, want: Array, axes: tuple[str, ...], tolerance: float) -> Finding | None:
    """Return a failure with the first place where two arrays of one shape differ; None if they agree."""
    wrong = differs(got, want, tolerance)
    if not wrong.any():
        return None
    rule, data = _rule(name, got, want, wrong)
    found = failed_where(rule, want, got, wrong, axes, **data)
    if name.startswith("grad "):  # of a gradient without any value, no place is better than another
        at = first_index(wrong) if got.any() else ()
        return replace(found, place=Spot(at, axes if at else (), name))
    return found


def _rule(name: str, got: Array, want: Array, wrong: Array) -> tuple[str, dict[str, object]]:
    """Return the rule of a difference, and the values of its placeholders."""
    of_gradient = name.startswith("grad ")
    data: dict[str, object] = {
        "name": name.removeprefix("grad "),
        "count": int(wrong.sum()),
        "total": wrong.size,
    }
    if np.isnan(got[wrong]).any():
        return f"values/{'gradient-' * of_gradient}nan", data | {"count": int(np.isnan(got).sum())}
    if np.isinf(got[wrong]).any():
        return f"values/{'gradient-' * of_gradient}inf", data | {"count": int(np.isinf(got).sum())}
    if of_gradient and not got.any():
        return "values/gradient-zero", data
    with np.errstate(invalid="ignore", over="ignore"):
        largest = float(np.abs(got.astype(np.float64) - want.astype(np.float64))[wrong].max())
    return "values/gradient" if of_gradient else "values", data | {"largest": largest}

"""Judges that compare values with the expected ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from grader.bundle.model import Check, RecordedCase
from grader.bundle.safetensors import Array
from grader.judge.finding import (
    PASSED,
    TOLERANCE,
    Finding,
    differs,
    failed_where,
    tensor,
    values_of,
    wrong_dtype,
)
from grader.judge.observation import Observation
from grader.support.i18n import _


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
    found = failed_where("values", _sentence(name, got, want, wrong), want, got, wrong, axes)
    if name.startswith("grad "):
        return replace(found, where=f"{name}: {found.where}" if found.where and got.any() else name)
    return found


def _sentence(name: str, got: Array, want: Array, wrong: Array) -> str:
    sentences = _of_gradient(name.removeprefix("grad ")) if name.startswith("grad ") else _of_result()
    count, total = int(wrong.sum()), wrong.size
    if np.isnan(got[wrong]).any():
        return sentences["nan"].format(count=int(np.isnan(got).sum()), total=total)
    if np.isinf(got[wrong]).any():
        return sentences["inf"].format(count=int(np.isinf(got).sum()), total=total)
    if "zero" in sentences and not got.any():
        return sentences["zero"]
    with np.errstate(invalid="ignore", over="ignore"):
        largest = float(np.abs(got.astype(np.float64) - want.astype(np.float64))[wrong].max())
    return sentences["differ"].format(count=count, total=total, largest=largest)


def _of_result() -> dict[str, str]:
    return {
        "nan": _("the result contains NaN ({count} of {total} values)"),
        "inf": _("the result contains inf ({count} of {total} values)"),
        "differ": _("{count} of {total} values differ from the expected output, by up to {largest:.2g}"),
    }


def _of_gradient(name: str) -> dict[str, str]:
    # `_sentence` formats the result again, except "zero". So braces in the name are doubled.
    shown = name.replace("{", "{{").replace("}", "}}")
    return {
        "nan": _("the gradient of {name} contains NaN ({{count}} of {{total}} values)").format(name=shown),
        "inf": _("the gradient of {name} contains inf ({{count}} of {{total}} values)").format(name=shown),
        "zero": _("the gradient of {name} is all zeros: no gradient flows back to {name}").format(name=name),
        "differ": _(
            "{{count}} of {{total}} values of the gradient of {name} differ, by up to {{largest:.2g}}"
        ).format(name=shown),
    }

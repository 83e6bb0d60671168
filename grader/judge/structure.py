"""Judges of shapes, arguments, parameters, plain Python values and exceptions."""

from __future__ import annotations

import numpy as np

from grader.bundle.model import Check, RecordedCase
from grader.judge.finding import (
    failed_where,
    judge,
    shape_text,
    tensor,
    values_of,
    wrong_dtype,
)
from grader.judge.observation import Observation
from grader.report.finding import PASSED, Fact, Finding


@judge
def shape(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """The result is a tensor of the shape and dtype of the reference's result.

    `any_float`: every floating dtype is accepted, because the input has no floating dtype. `tensor`
    refuses the others.
    """
    for name in check.of:
        seen = tensor(name, case, observation)  # raises Wrong for another shape
        wrong = wrong_dtype(seen, case.headers[name])
        if wrong is not None and not check.params.get("any_float"):
            return wrong
    return PASSED


@judge
def unchanged(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """The arguments have the same values as before the call."""
    for name in check.of:
        argument = name.removeprefix("after ")
        got = values_of(name, case, observation)
        # `Case.constant` makes an argument whose values are not in `case.tensors`.
        want = case.tensors[argument] if argument in case.tensors else case.expected[name]
        differs = ~((got == want) | (np.isnan(got) & np.isnan(want)))
        if differs.any():
            return failed_where("changed", want, got, differs, case.headers[name].axes, name=argument)
    return PASSED


@judge
def parameters(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """The weights could be loaded under the names of the reference, or into a known layout with the same matrices.

    `may_have`: names of further parameters that change no result, such as a bias before a softmax.
    """
    found = observation.parameters
    if found is None:
        return Finding("absent/parameters")
    want = case.weights
    unexpected = [name for name in found["unexpected"] if name not in check.params.get("may_have", ())]
    wrong = {"missing": found["missing"], "misshapen": found["misshapen"], "unexpected": unexpected}
    parts = [Fact(f"part/{what}", {"names": _listed(names)}) for what, names in wrong.items() if names]
    if found["shared"]:
        (first, second), *others = found["shared"]
        parts.append(Fact("part/shared", {"first": first, "second": second, "n": len(others) or None}))
    if not parts:
        return PASSED
    data = {what: sorted(names) for what, names in {**wrong, "shared": found["shared"]}.items()}
    touched = [n for n in want if n in found["missing"] + found["misshapen"]]
    return Finding(
        "parameters",
        {"parts": tuple(parts), **data},
        expected="\n".join(f"{name} {shape_text(want[name])}" for name in touched[:8]),
        got="\n".join(f"{name} {shape_text(size)}" for name, size in list(found["shapes"].items())[:8]),
    )


def _listed(names: list[str]) -> str:
    return ", ".join(names[:6]) + (", …" if len(names) > 6 else "")


@judge
def value(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """A plain Python value is the expected one."""
    (name,) = check.of
    want = check.params["want"]
    if name not in observation.values:
        seen = observation.seen.get(name)
        data = {"want": want, "what": seen.odd if seen else Fact("nothing")}
        return Finding("odd/value", data, expected=str(want))
    got = observation.values[name]
    if got == want and isinstance(got, bool) == isinstance(want, bool):
        return PASSED
    says = check.params.get("says")
    data = {"want": str(want), "got": str(got), "says": says}
    return Finding("value/says" if says else "value", data, expected=str(want), got=str(got))


@judge
def raises(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """The case raises an exception of the class `type`. Its subclasses do not count."""
    want, error = check.params["type"], observation.error
    if error is None:
        return Finding("accepted", {"want": want}, expected=want)
    if error.type != want:
        return Finding("raised", {"want": want, "got": error.type}, expected=want, got=error.type)
    return PASSED

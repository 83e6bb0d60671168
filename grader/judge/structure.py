"""Judges of shapes, arguments, parameters, plain Python values and exceptions."""

from __future__ import annotations

import numpy as np

from grader.bundle.model import Check, RecordedCase
from grader.judge.finding import (
    PASSED,
    Finding,
    failed,
    failed_where,
    shape_text,
    tensor,
    values_of,
    wrong_dtype,
)
from grader.judge.observation import Observation
from grader.support.i18n import _


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


def unchanged(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """The arguments have the same values as before the call."""
    for name in check.of:
        argument = name.removeprefix("after ")
        got = values_of(name, case, observation)
        # `Case.constant` makes an argument whose values are not in `case.tensors`.
        want = case.tensors[argument] if argument in case.tensors else case.expected[name]
        differs = ~((got == want) | (np.isnan(got) & np.isnan(want)))
        if differs.any():
            says = _("the argument {name} was modified in place").format(name=argument)
            return failed_where(f"changed {argument}", says, want, got, differs, case.headers[name].axes)
    return PASSED


def parameters(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """The weights could be loaded under the names of the reference, or into a known layout with the same matrices.

    `may_have`: names of further parameters that change no result, such as a bias before a softmax.
    """
    found = observation.parameters
    if found is None:
        return failed("absent", _("the parameters could not be loaded"))
    want = case.weights
    parts = []
    if found["missing"]:
        parts.append(_("missing: {names}").format(names=_listed(found["missing"])))
    if found["misshapen"]:
        parts.append(_("wrong shape: {names}").format(names=_listed(found["misshapen"])))
    unexpected = [name for name in found["unexpected"] if name not in check.params.get("may_have", ())]
    if unexpected:
        parts.append(_("unexpected: {names}").format(names=_listed(unexpected)))
    if found["shared"]:
        (first, second), *others = found["shared"]
        more = _(" (and {n} more pairs)").format(n=len(others)) if others else ""
        parts.append(
            _("{first} and {second} share the same parameter").format(first=first, second=second) + more
        )
    if not parts:
        return PASSED
    touched = [n for n in want if n in found["missing"] + found["misshapen"]]
    return failed(
        f"parameters {sorted(found['missing'])} {sorted(found['misshapen'])} {sorted(unexpected)} {sorted(found['shared'])}",
        "; ".join(parts),
        "\n".join(f"{name} {shape_text(want[name])}" for name in touched[:8]),
        "\n".join(f"{name} {shape_text(size)}" for name, size in list(found["shapes"].items())[:8]),
    )


def _listed(names: list[str]) -> str:
    return ", ".join(names[:6]) + (", …" if len(names) > 6 else "")


def value(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """A plain Python value is the expected one."""
    (name,) = check.of
    want = check.params["want"]
    if name not in observation.values:
        seen = observation.seen.get(name)
        what = seen.odd if seen else _("nothing")
        return failed("odd", _("expected {want}, got {what}").format(what=what, want=want), str(want))
    got = observation.values[name]
    if got == want and isinstance(got, bool) == isinstance(want, bool):
        return PASSED
    says = check.params.get("says")
    message = _(says) if says else _("expected {want}, got {got}").format(got=got, want=want)
    return failed(f"value {got}", message, str(want), str(got))


def raises(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """The case raises an exception of the class `type`. Its subclasses do not count."""
    want, error = check.params["type"], observation.error
    if error is None:
        says = _("expected {want} to be raised, but nothing was raised")
        return failed("accepted", says.format(want=want), want)
    if error.type != want:
        says = _("expected {want} to be raised, got {got}")
        return failed(f"raised {error.type}", says.format(got=error.type, want=want), want, error.type)
    return PASSED

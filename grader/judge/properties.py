"""Judges of properties: shapes, arguments, parameters, plain Python values, exceptions, results that agree, costs."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

import numpy as np

from grader.bundle.model import Check, Header, RecordedCase
from grader.judge.compare import (
    TOLERANCE,
    compare,
    differs,
    finding_where,
    first_index,
    header_of,
    judge,
    shape_text,
    values_of,
    wrong_dtype,
    wrong_form,
)
from grader.judge.observation import Observation, Seen
from grader.report.finding import PASSED, Fact, Finding, Spot


@judge
def same(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """Two results of the student's own code agree. `says`: the sentence if they do not."""
    left, right = check.of
    one, other = (values_of(name, case, observation) for name in (left, right))
    wrong = differs(other, one, 10 * TOLERANCE[case.dtype])
    says = check.params.get("says") or None
    return finding_where("differ", one, other, wrong, header_of(left, case).axes, says=says)


@judge
def sums_to_one(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """Every row of the last axis sums to one."""
    (name,) = check.of
    sums = values_of(name, case, observation).astype(np.float64).sum(-1)
    wrong = differs(sums, np.ones_like(sums), 10 * TOLERANCE[case.dtype])
    if not wrong.any():
        return PASSED
    index = first_index(wrong)
    found = float(sums[index])
    place = Spot(index, case.headers[name].axes[:-1])
    return Finding("sums", {"sum": found}, place, expected="1", got=f"{found:.4f}")


@judge
def carries(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """A matrix M maps row i of one tensor to row i of another: M @ rows[i] is images[i].

    `rows` and `images`: names of the two tensors, which only the judge has. `tol`: the tolerance instead of the
    default. `says`: the sentence if a row differs.
    """
    (name,) = check.of
    got = values_of(name, case, observation).astype(np.float64)
    rows, images = (case.for_judge[check.params[key]].astype(np.float64) for key in ("rows", "images"))
    moved = rows @ got.T
    wrong = differs(moved, images, check.params.get("tol", TOLERANCE[case.dtype]))
    return finding_where("differ", images, moved, wrong, ("row", "feature"), says=check.params["says"])


@judge
def witnessed(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """At least one row equals the expected row at its place, so the code used the data. `says`: the sentence if not."""
    (name,) = check.of
    rows = values_of(name, case, observation) == case.expected[name]
    return PASSED if rows.all(-1).any() else Finding("differ", {"says": check.params["says"]})


@judge
def kept_weights(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """`.attention_weights` holds the attention weights as they are before dropout.

    `optional`, `may_miss`: see `may_be_anything`.
    """
    (name,) = check.of
    seen, header = observation.seen.get(name), case.headers[name]
    if may_be_anything(check, seen, header):
        return PASSED
    if seen is None or seen.odd == "None":
        return Finding("absent/attribute")
    if seen.odd and seen.shape is None:
        return Finding("odd/attribute", {"what": seen.odd}, got=seen.odd)
    got = values_of(name, case, observation)
    found = compare(name, got, case.expected[name], header.axes, TOLERANCE[case.dtype])
    return found if found.passed else replace(found, rule="values/attribute")


def may_be_anything(check: Check, seen: Seen | None, header: Header) -> bool:
    """Whether these stored weights are not judged. `may_miss`: none are stored, which is right, too.

    `optional`: the attribute is missing, or is no tensor of the expected shape and kind.
    """
    if check.params.get("may_miss"):
        return seen is None or seen.odd == "None"
    return bool(check.params.get("optional")) and wrong_form(seen, header) is not None


MOST = 1 << 62  # a larger count can only be forged


def is_count(value: object) -> TypeGuard[int]:
    """Whether a value is a possible count. A worker that runs student code sends counts, so they may be anything."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < MOST


@judge
def cost(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """At most `kept` / `total` of the counted cost is left, besides `fixed`, which never shrinks.

    `of`: the count before and the count after. Somewhat less passes too, because not every way to multiply is
    counted. Less than a quarter of the expected count fails: no such module can work.
    """
    before, after = (observation.values.get(name) for name in check.of)
    if not (is_count(before) and is_count(after)):
        return Finding("odd/count")
    kept, total, fixed = (check.params[key] for key in ("kept", "total", "fixed"))
    want = (before - fixed) * kept // total + fixed
    if after <= want <= 4 * after:
        return PASSED
    rule = "little" if after <= want else "whole" if after == before else "cost"
    data = {"after": after, "before": before, "want": want}
    return Finding(rule, data, expected=f"{want}", got=f"{after}")


@judge
def at_most(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """A count is at most `limit`, or at most `share` times a second count. 0 passes: products of elements do not count.

    `says`: the sentence of the report if it is more.
    """
    counts = [observation.values.get(name) for name in check.of]
    if not all(is_count(count) or count == 0 for count in counts):
        return Finding("odd/count")
    got = int(counts[0] or 0)
    limit = check.params["limit"] if len(counts) == 1 else int(check.params["share"] * int(counts[1] or 0))
    if got <= limit:
        return PASSED
    data = {"got": got, "limit": limit, "says": check.params["says"]}
    return Finding("at-most", data, expected=f"at most {limit}", got=f"{got}")


@judge
def law(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """The probability of every sequence of tokens is that of the reference. The tensor has one axis per token.

    The probabilities are sums over all draws, so only rounding is tolerated.
    """
    (name,) = check.of
    got, want = values_of(name, case, observation).astype(np.float64), case.expected[name]
    wrong = ~(np.abs(got - want) <= 1e-9)
    if not wrong.any():
        return PASSED
    at = first_index(wrong)
    found = {"tokens": ", ".join(map(str, at)), "got": float(got[at]), "want": float(want[at])}
    return Finding("law", found, expected=f"{want[at]:.4g}", got=f"{got[at]:.4g}")


@judge
def attempted(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """The call raises an exception of the class `type`, or of a subclass; see `worker.steps.Attempt`."""
    want, got = check.params["type"], observation.values.get(check.of[0])
    if got == 1:
        return PASSED
    return Finding(
        "raised" if got == 2 else "accepted", {"want": want, "got": "another exception"}, expected=want
    )


@judge
def shape(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """The result is a tensor of the shape and dtype of the reference's result.

    `any_float`: every floating dtype is accepted, because the input has no floating dtype. `values_of` refuses the
    others.
    """
    for name in check.of:
        values_of(name, case, observation)  # raises Wrong for another shape
        wrong = wrong_dtype(observation.seen[name], case.headers[name])
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
        changed = ~((got == want) | (np.isnan(got) & np.isnan(want)))
        found = finding_where("changed", want, got, changed, case.headers[name].axes, name=argument)
        if not found.passed:
            return found
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
    data = {"want": str(want), "got": str(got), "says": check.params.get("says") or None}
    return Finding("value", data, expected=str(want), got=str(got))


@judge
def raises(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """The case raises an exception of the class `type`. Its subclasses do not count."""
    want, error = check.params["type"], observation.error
    if error is None:
        return Finding("accepted", {"want": want}, expected=want)
    if error.type != want:
        return Finding("raised", {"want": want, "got": error.type}, expected=want, got=error.type)
    return PASSED

"""Judges of properties: two results agree, rows sum to one, a matrix maps given rows, one row is the expected one,
stored attention weights are right.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

import numpy as np

from grader.bundle.model import Check, Header, RecordedCase
from grader.judge.equal import compare
from grader.judge.finding import (
    TOLERANCE,
    differs,
    failed_where,
    first_index,
    header_of,
    judge,
    values_of,
    wrong_form,
)
from grader.judge.observation import Observation, Seen
from grader.report.finding import PASSED, Finding, Spot


@judge
def same(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """Two results of the student's own code agree. `says`: the sentence if they do not."""
    left, right = check.of
    one, other = (values_of(name, case, observation) for name in (left, right))
    wrong = differs(other, one, 10 * TOLERANCE[case.dtype])
    if not wrong.any():
        return PASSED
    says = check.params.get("says")
    rule = "differ/says" if says else "differ"
    return failed_where(rule, one, other, wrong, header_of(left, case).axes, says=says)


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
    if not wrong.any():
        return PASSED
    return failed_where("differ/says", images, moved, wrong, ("row", "feature"), says=check.params["says"])


@judge
def witnessed(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """At least one row equals the expected row at its place, so the code used the data. `says`: the sentence if not."""
    (name,) = check.of
    rows = values_of(name, case, observation) == case.expected[name]
    return PASSED if rows.all(-1).any() else Finding("differ/says", {"says": check.params["says"]})


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
    wrong = compare(name, got, case.expected[name], header.axes, TOLERANCE[case.dtype])
    return PASSED if wrong is None else replace(wrong, rule="values/attribute")


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

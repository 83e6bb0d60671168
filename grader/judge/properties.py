"""Judges that hold a student's results against each other: what must be true whatever the numbers are."""

from __future__ import annotations

import numpy as np

from grader.bundle import RecordedCase
from grader.case import Check
from grader.i18n import _
from grader.judge.equal import compare
from grader.judge.finding import PASSED, TOLERANCE, Finding, around, departures, failed, place, wrong_form
from grader.observation import Observation


def same(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """Two results of the student's own code agree. `says`: the sentence when they do not."""
    left, right = check.of
    arrays = []
    for name in (left, right):
        seen = observation.seen.get(name)
        wrong = wrong_form(name, seen, case.headers[name])
        if wrong is not None:
            return wrong
        assert seen is not None and seen.array is not None
        arrays.append(seen.array)
    differs = departures(arrays[1], arrays[0], 10 * TOLERANCE[case.dtype])
    if not differs.any():
        return PASSED
    index = tuple(int(i) for i in np.argwhere(differs)[0])
    says = check.params.get("says") or "two results that must agree do not"
    return failed(
        "differ",
        _(says),
        around(arrays[0], index),
        around(arrays[1], index),
        place(index, case.headers[left].axes),
    )


def sums_to_one(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """Every row of the last axis sums to one."""
    (name,) = check.of
    seen = observation.seen.get(name)
    wrong = wrong_form(name, seen, case.headers[name])
    if wrong is not None:
        return wrong
    assert seen is not None and seen.array is not None
    sums = seen.array.astype(np.float64).sum(-1)
    differs = departures(sums, np.ones_like(sums), 10 * TOLERANCE[case.dtype])
    if not differs.any():
        return PASSED
    index = tuple(int(i) for i in np.argwhere(differs)[0])
    return failed(
        "sums",
        _("a row of weights sums to {sum:.4f}, not to 1").format(sum=float(sums[index])),
        "1",
        f"{float(sums[index]):.4f}",
        place(index, case.headers[name].axes[:-1]),
    )


def carries(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """A matrix takes each row of one tensor of the case, as a column, to the same row of another.

    `rows` and `images` name the two; `tol` widens the tolerance; `says` is the sentence when it does not.
    """
    (name,) = check.of
    seen, header = observation.seen.get(name), case.headers[name]
    wrong = wrong_form(name, seen, header)
    if wrong is not None:
        return wrong
    assert seen is not None and seen.array is not None
    rows, images = (case.tensors[check.params[key]].astype(np.float64) for key in ("rows", "images"))
    moved = rows @ seen.array.astype(np.float64).T
    differs = departures(moved, images, check.params.get("tol", TOLERANCE[case.dtype]))
    if not differs.any():
        return PASSED
    index = tuple(int(i) for i in np.argwhere(differs)[0])
    where = place(index, ("row", "feature"))
    return failed("differ", _(check.params["says"]), around(images, index), around(moved, index), where)


def kept_weights(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """`.attention_weights` holds the weights that were used, before dropout."""
    (name,) = check.of
    seen, header = observation.seen.get(name), case.headers[name]
    optional = check.params.get("optional", False)
    if seen is None or (seen.odd and seen.shape is None):
        return (
            PASSED
            if optional
            else failed("absent", _("no .attention_weights were kept"), got=seen.odd if seen else "")
        )
    want = case.expected[name]
    wrong = wrong_form(name, seen, header)
    if wrong is not None:
        return PASSED if optional else wrong
    assert seen.array is not None
    wrong = compare(name, seen.array, want, header.axes, TOLERANCE[case.dtype])
    if wrong is None:
        return PASSED
    return failed(
        "values", _("the weights kept are not those of the reference"), wrong.expected, wrong.got, wrong.where
    )

"""Dropout is judged by its structure: a seed gives other numbers on every machine, the structure does not.

Samples are so large that a right answer fails by chance less than once in 10⁹ runs: 6.5 standard errors.
"""

from __future__ import annotations

import numpy as np

from grader.bundle import RecordedCase
from grader.case import Check
from grader.i18n import _
from grader.judge.finding import PASSED, Finding, failed, wrong_form
from grader.observation import Observation
from grader.tensors import Array

STANDARD_ERRORS = 6.5
EXACT = 1e-4


def dropped_weights(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """Attention weights are dropped, each by itself, after the softmax, in training.

    The case makes all weights equal and all values one, so that each output is the sum of its dropped
    weights. `p`: the rate; `keys`: how many weights a sum has; `features`: how many neighbouring output
    features show the same sum.
    """
    (name,) = check.of
    seen = observation.seen.get(name)
    wrong = wrong_form(name, seen, case.headers[name])
    if wrong is not None:
        return wrong
    assert seen is not None and seen.array is not None
    p, keys, features = check.params["p"], check.params["keys"], check.params["features"]
    sums = seen.array.astype(np.float64).reshape(-1, features)  # (rows · heads, features)
    if not np.isfinite(sums).all():
        return failed("not finite", _("in training the result is not finite"))
    if np.ptp(sums, axis=1).max() > EXACT:
        return failed("features", _("features of one output differ: dropout acts on the output, not on the weights"))
    rows = sums[:, 0]
    if np.ptp(rows) <= EXACT:
        if abs(rows[0] - 1) <= EXACT:
            return failed("none", _("every row of weights still sums to one in training: none was dropped after the softmax"))
        return failed("constant", _("in training all results are the same number"))
    return _rate(rows, p, keys)


def _rate(rows: Array, p: float, keys: int) -> Finding:
    """Mean and spread of sums of `keys` equal weights, each kept with probability 1-p and scaled up."""
    spread = (p / (1 - p) / keys) ** 0.5
    if abs(rows.mean() - 1) > STANDARD_ERRORS * spread / rows.size**0.5:
        return failed("scale", _("in training the weights do not keep their mean: dropped ones are not made up for"))
    kurtosis = 3 + (1 - 6 * p * (1 - p)) / (keys * p * (1 - p))
    error = ((kurtosis - 1) / rows.size) ** 0.5
    if abs(rows.var() / spread**2 - 1) > STANDARD_ERRORS * error:
        return failed("rate", _("in training another share of the weights is dropped than was asked for"))
    return PASSED


def dropped_elements(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """Every element is either zero or what it is in evaluation, scaled up by 1/(1-p).

    `of`: the result in training, then the same in evaluation. `p`: the rate.
    """
    name, still = check.of
    for each in check.of:
        wrong = wrong_form(each, observation.seen.get(each), case.headers[each])
        if wrong is not None:
            return wrong
    p = check.params["p"]
    train, base = (np.asarray(observation.seen[n].array, dtype=np.float64).ravel() for n in (name, still))
    zero = np.abs(train) <= EXACT
    kept = np.abs(train * (1 - p) - base) <= EXACT * (1 + np.abs(base))
    if np.abs(train - base).max(initial=0.0) <= EXACT:
        return failed("none", _("the result in training is that of evaluation: nothing is dropped"))
    if not (zero | kept).all():
        return failed("structure", _("elements are neither dropped nor scaled up: dropout acts in another place"))
    informative = np.abs(base) > 10 * EXACT
    share, count = zero[informative].mean(), informative.sum()
    if abs(share - p) > STANDARD_ERRORS * (p * (1 - p) / count) ** 0.5:
        return failed("rate", _("in training another share of the elements is dropped than was asked for"))
    return PASSED


def dropped_regions(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """Within each row, features of one region vary (they were dropped), those of another stay equal.

    `dropped` and `steady`: (start, stop) of the two regions on the last axis. For results that are
    normalised afterwards, so that the dropped numbers themselves are not visible any more. `p`: the rate,
    read from the share of the lower of the two levels.
    """
    (name,) = check.of
    seen = observation.seen.get(name)
    wrong = wrong_form(name, seen, case.headers[name])
    if wrong is not None:
        return wrong
    assert seen is not None and seen.array is not None
    rows = seen.array.astype(np.float64).reshape(-1, seen.array.shape[-1])
    dropped, steady = (rows[:, slice(*check.params[key])] for key in ("dropped", "steady"))
    if not np.isfinite(rows).all():
        return failed("not finite", _("in training the result is not finite"))
    if np.ptp(steady, axis=1).max() > EXACT:
        return failed("elsewhere", _("dropout acts where nothing should be dropped"))
    if np.ptp(dropped, axis=1).max() <= EXACT:
        return failed("none", _("nothing is dropped in training"))
    p = check.params["p"]
    middle = (dropped.min(1, keepdims=True) + dropped.max(1, keepdims=True)) / 2
    share = (dropped < middle).mean()
    if abs(share - p) > STANDARD_ERRORS * (p * (1 - p) / dropped.size) ** 0.5:
        return failed("rate", _("in training another share is dropped than was asked for"))
    return PASSED


def varies(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """Two calls on the same input in training differ: something is dropped."""
    arrays = []
    for name in check.of:
        wrong = wrong_form(name, observation.seen.get(name), case.headers[name])
        if wrong is not None:
            return wrong
        arrays.append(np.asarray(observation.seen[name].array, dtype=np.float64))
    if np.abs(arrays[0] - arrays[1]).max(initial=0.0) > EXACT:
        return PASSED
    return failed("none", _("two calls in training give the same: nothing is dropped"))

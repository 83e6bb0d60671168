"""Judge dropout by its structure: which values are zero, and how the others are scaled.

The values themselves cannot be compared: on another machine, the same seed drops other elements.

The samples are so large that a right answer fails by chance less than once in 10⁹ runs (6.5 standard errors).
"""

from __future__ import annotations

import numpy as np

from grader.bundle.model import Check, RecordedCase
from grader.bundle.safetensors import Array
from grader.judge.compare import Wrong, judge, values_of
from grader.judge.observation import Observation
from grader.report.finding import PASSED, Finding

STANDARD_ERRORS = 6.5
EXACT = 1e-4  # values that differ by less count as equal: float32 rounds
# Dropped rows are found by the variance of the share of zeros per row. Dropping whole rows makes it at least
# FEWEST_IN_ROW times as large as dropping single elements does. If single elements are dropped, and there are
# FEWEST_ROWS or more rows, it exceeds TOGETHER times its expected value with a probability below 1e-9.
TOGETHER, FEWEST_IN_ROW, FEWEST_ROWS = 3.0, 8, 64


@judge
def dropped_weights(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """In training, each attention weight is dropped on its own, after the softmax.

    All weights of the case are equal and all values are 1, so each output is the sum of the weights that were kept.
    `p`: the rate. `keys`: the number of weights in a sum. `features`: the number of neighbouring output features
    with the same sum.
    """
    (name,) = check.of
    got = _finite(name, case, observation)
    p, keys, features = check.params["p"], check.params["keys"], check.params["features"]
    sums = got.reshape(-1, features)  # (rows · heads, features)
    if np.ptp(sums, axis=1).max() > EXACT:
        return Finding("features", {"what": _dropped_tensor(sums, p)})
    rows = sums[:, 0]
    if np.ptp(rows) <= EXACT:
        if abs(rows[0] - 1) <= EXACT:
            return Finding("none/weights")
        return Finding("constant")
    return _rate(rows, p, keys)


def _finite(name: str, case: RecordedCase, observation: Observation) -> Array:
    """Raise Wrong if a value is NaN or infinite."""
    array = values_of(name, case, observation).astype(np.float64)
    if not np.isfinite(array).all():
        raise Wrong(Finding("not-finite"))
    return array


def _wrong_rate(rule: str, p: float, measured: float) -> Finding:
    return Finding(rule, expected=f"{p:.0%}", got=f"{measured:.0%}")


def _dropped_tensor(sums: Array, p: float) -> str:
    """Name the dropped tensor. If values are dropped, few sums are zero: that needs all of a sum."""
    zero = np.abs(sums) <= EXACT
    kept = np.abs(sums * (1 - p) - 1) <= EXACT
    if (zero | kept).all():
        return "output"
    return "output and weights" if zero.mean() > p / 2 else "values"


def _rate(rows: Array, p: float, keys: int) -> Finding:
    """Check mean and spread of sums of `keys` equal weights, each kept with probability 1-p and scaled up."""
    spread = (p / (1 - p) / keys) ** 0.5
    if abs(rows.mean() - 1) > STANDARD_ERRORS * spread / rows.size**0.5:
        return Finding("scale/weights")
    # The kurtosis of a binomial distribution; the error of a sample's variance follows from it.
    kurtosis = 3 + (1 - 6 * p * (1 - p)) / (keys * p * (1 - p))
    error = ((kurtosis - 1) / rows.size) ** 0.5
    if abs(rows.var() / spread**2 - 1) > STANDARD_ERRORS * error:
        odds = float(rows.var()) * keys  # p / (1 - p)
        return _wrong_rate("rate/weights", p, odds / (1 + odds))
    return PASSED


@judge
def dropped_elements(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """Every element is either zero or its value in evaluation, scaled up by 1/(1-p).

    `of`: the result in training, then the same result in evaluation. `p`: the rate.
    """
    train, base = (values_of(name, case, observation).astype(np.float64) for name in check.of)
    p = check.params["p"]
    zero = np.abs(train) <= EXACT
    kept = np.abs(train * (1 - p) - base) <= EXACT * (1 + np.abs(base))
    if np.abs(train - base).max(initial=0.0) <= EXACT:
        return Finding("none")
    if not (zero | kept).all():
        return Finding("structure")
    informative = np.abs(base) > 10 * EXACT
    if not informative.any():
        return Finding("structure/zero")
    # `zero` is also true where evaluation gives 0. Without such places, its rows show what is dropped.
    return _dropped(zero if informative.all() else zero[informative], p)


def _dropped(gone: Array, p: float) -> Finding:
    """Check that each element is gone with probability `p`, on its own. A flat array has no rows to be dropped."""
    if abs(gone.mean() - p) > STANDARD_ERRORS * (p * (1 - p) / gone.size) ** 0.5:
        return _wrong_rate("rate", p, float(gone.mean()))
    for axis, count in enumerate(gone.shape):
        shares = gone.mean(axis=axis)
        are_rows = count >= FEWEST_IN_ROW and shares.size >= FEWEST_ROWS
        if are_rows and shares.var() > TOGETHER * p * (1 - p) / count:
            return Finding("together")
    return PASSED


@judge
def dropped_regions(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """In each row, the features of the region `dropped` vary, because dropout is applied to them; the others do not.

    Use it for results that are normalised after dropout. Then a dropped value is not zero, but equal values stay
    equal. A region is (start, stop) on the last axis. `dropped`: values after dropout at rate `p`. `floor`: zeros
    before the normalisation; each dropped value must equal the values of this region. `kept`: 1/(1-p) times the input
    of the dropout; each kept value must equal the values of this region. `keys`: the input is itself a sum of that many
    attention weights after dropout. Then it differs per row, and `kept` is 1/(1-p) times its mean.
    """
    (name,) = check.of
    got = _finite(name, case, observation)
    rows = got.reshape(-1, got.shape[-1])
    keys = [key for key in ("dropped", "floor", "kept") if key in check.params]
    regions = {key: rows[:, slice(*check.params[key])] for key in keys}
    moving = [key for key, region in regions.items() if np.ptp(region, axis=1).max() > EXACT]
    if not moving and np.ptp(regions["dropped"][:, 0]) > EXACT:
        return Finding("together")
    if not moving:
        return Finding("none")
    if moving != ["dropped"]:
        return Finding("elsewhere", {"regions": " ".join(moving)})
    return _levels(regions, check.params["p"], check.params.get("keys"))


def _levels(regions: dict[str, Array], p: float, keys: int | None) -> Finding:
    """Compare dropped values with `floor` and kept ones with `kept`, then check which are dropped."""
    dropped = regions["dropped"]
    low = regions["floor"][:, :1] if "floor" in regions else dropped.min(axis=1, keepdims=True)
    high = dropped.max(axis=1, keepdims=True)
    gone = dropped < (low + high) / 2
    if np.abs(dropped - low)[gone].max(initial=0.0) > EXACT:
        return Finding("structure")
    if "kept" in regions:
        if np.abs(dropped - high)[~gone].max(initial=0.0) > EXACT:
            return Finding("structure")
        unit = regions["kept"][:, :1] - low
        if np.abs(unit).min() <= EXACT:
            return Finding("levels")
        scaled = _scaled(((high - low) / unit)[:, 0], p, keys)
        if not scaled.passed:
            return scaled
    return _dropped(gone, p)


def _scaled(times: Array, p: float, keys: int | None) -> Finding:
    """Check that `times`, the factor of each row, is 1 or, with `keys`, a sum of so many dropped weights."""
    if keys is None:
        return PASSED if np.abs(times - 1).max() <= EXACT else Finding("scale")
    if np.ptp(times) <= EXACT:
        return Finding("no-weights")
    return _rate(times, p, keys)


@judge
def varies(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """Two calls on one input in training differ, so something is dropped."""
    one, other = (values_of(name, case, observation).astype(np.float64) for name in check.of)
    if np.abs(one - other).max(initial=0.0) > EXACT:
        return PASSED
    return Finding("none/calls")

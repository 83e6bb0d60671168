"""Right dropout passes for many seeds, and many kinds of wrong dropout fail."""

from functools import partial

import numpy as np
import pytest
from helpers.lanes import first_of_each

P, KEYS, FEATURES = 0.25, 8, 4
SEEDS = 2000
# The regions of a row of WIDE features, as (first, stop); see `rows_before`.
WIDE, DROPPED, FLOOR, KEPT = 128, (0, 64), (64, 96), (96, 128)
REGIONS = {"p": P, "dropped": DROPPED, "floor": FLOOR, "kept": KEPT}
SCALE = 1 / (1 - P)
BASE = np.random.default_rng(9).standard_normal((8, 16, 12)).astype("f4") + np.float32(0.01)


def kept(rng, *shape, p=P):
    """Return True for each value that dropout keeps."""
    return rng.random(shape, dtype=np.float32) >= p


# ---- attention weights: sums of KEYS equal weights, each sum repeated in FEATURES features


def weights(decide, got):
    params = {"p": P, "keys": KEYS, "features": FEATURES}
    return decide("dropped_weights", {"out": np.zeros(np.shape(got))}, {"out": got}, **params)


def sums(rng, rows=2048, p=P):
    mask = kept(rng, rows, KEYS, p=p) / (1 - p) / KEYS
    return np.repeat(mask.sum(1), FEATURES).reshape(64, -1, FEATURES).astype(np.float32)


WRONG_WEIGHTS = {
    "none": lambda rng: np.ones((64, 32, FEATURES), dtype=np.float32),
    "before softmax": lambda rng: (1 + rng.normal(size=(64, 32, 1)) * 1e-7 * np.ones(FEATURES)).astype("f4"),
    "not scaled": lambda rng: sums(rng) * (1 - P),
    "scaled twice": lambda rng: sums(rng) * SCALE,
    "twice the rate": lambda rng: sums(rng, p=2 * P),
    "the share of kept values as the rate": lambda rng: sums(rng, p=1 - P),
    "half the rate": lambda rng: sums(rng, p=P / 2),
    "dropped twice": lambda rng: sums(rng, p=1 - (1 - P) ** 2),
    "dropout of the output": lambda rng: (kept(rng, 64, 32, FEATURES) * SCALE).astype("f4"),
    "dropout of weights and output": lambda rng: sums(rng) * kept(rng, 64, 32, FEATURES) * SCALE,
    "with something added": lambda rng: sums(rng) + np.float32(0.1),
    "whole rows": lambda rng: (kept(rng, 64, 32, 1) * np.ones(FEATURES) * SCALE).astype("f4"),
    # 6 of the 8 weights are kept.
    "one mask for all": lambda rng: np.full((64, 32, FEATURES), 6 / KEYS * SCALE, dtype=np.float32),
    "everything": lambda rng: np.zeros((64, 32, FEATURES), dtype=np.float32),
    "NaN": lambda rng: np.where(sums(rng) > 1.3, np.nan, sums(rng)),
    "normalised again": lambda rng: (sums(rng) > 0).astype(np.float32),
}

# ---- elements: in training, each is zero or its scaled value of evaluation


def elements(decide, train, evaluation=BASE):
    got = {"train": np.asarray(train, dtype="f4"), "evaluation": np.asarray(evaluation, dtype="f4")}
    return decide("dropped_elements", dict.fromkeys(got, evaluation), got, p=P)


WRONG_ELEMENTS = {
    "none": lambda rng: BASE,
    "not scaled": lambda rng: BASE * kept(rng, *BASE.shape),
    "another rate": lambda rng: BASE * kept(rng, *BASE.shape, p=0.4) / 0.6,
    "another rate, scaled by the right one": lambda rng: BASE * kept(rng, *BASE.shape, p=0.5) * SCALE,
    "all": lambda rng: BASE * 0,
    "a part of a sum": lambda rng: (BASE - 1) + kept(rng, *BASE.shape) * SCALE,
    "noise": lambda rng: BASE + rng.standard_normal(BASE.shape),
    "NaN": lambda rng: np.where(kept(rng, *BASE.shape), BASE * SCALE, np.nan),
}

# ---- regions: features that are normalised after dropout


def regions(decide, got, params=REGIONS, **more):
    shape = (16, 8, WIDE)
    result = {"out": np.asarray(got).reshape(shape)}
    return decide("dropped_regions", {"out": np.zeros(shape)}, result, **params, **more)


def normalised(row):
    centred = row - row.mean(-1, keepdims=True)
    return (centred / row.std(-1, keepdims=True)).astype(np.float32)


def rows_before(inside):
    """Return rows before the normalisation: `inside` in DROPPED, 0 in FLOOR, and a kept 1 in KEPT."""
    row = np.zeros((128, WIDE))
    row[:, slice(*DROPPED)] = inside
    row[:, slice(*KEPT)] = SCALE
    return row


def right(rng):
    return normalised(rows_before(kept(rng, 128, 64) * SCALE))


def of_dropped_sums(rng):
    weights = (kept(rng, 128, KEYS) / KEYS * SCALE).sum(1, keepdims=True)
    return normalised(rows_before(weights * kept(rng, 128, 64) * SCALE))


WRONG_REGIONS = {
    "none": lambda rng: normalised(rows_before(1.0)),
    "not scaled": lambda rng: normalised(rows_before(kept(rng, 128, 64) * 1.0)),
    "scaled twice": lambda rng: normalised(rows_before(kept(rng, 128, 64) * SCALE**2)),
    "another rate": lambda rng: normalised(rows_before(kept(rng, 128, 64, p=0.5) * 2.0)),
    "another rate, scaled by the right one": lambda rng: normalised(
        rows_before(kept(rng, 128, 64, p=0.5) * SCALE)
    ),
    "dropout of the sum": lambda rng: normalised(rows_before(1.0) * kept(rng, 128, WIDE) * SCALE),
    "after the normalisation": lambda rng: normalised(rows_before(1.0)) * kept(rng, 128, WIDE).astype("f4"),
    "dropout of the other summand": lambda rng: normalised(
        rows_before(1.0) * np.where(np.arange(WIDE) >= KEPT[0], kept(rng, 128, WIDE) * SCALE, 1)
    ),
    "whole rows": lambda rng: normalised(rows_before(kept(rng, 128, 1) * SCALE)),
    "whole features": lambda rng: normalised(rows_before(kept(rng, 1, 64) * SCALE)),
    "twice": lambda rng: normalised(rows_before(kept(rng, 128, 64) * kept(rng, 128, 64) * SCALE**2)),
    "dropout before a mean": lambda rng: normalised(rows_before((kept(rng, 128, 64, 3) * SCALE).mean(-1))),
    "NaN": lambda rng: right(rng) * np.nan,
    "zeros": lambda rng: right(rng) * 0,
}

# ---- the tests: what judges a result, and what makes it from a generator of random numbers

RIGHT = {
    "elements": (elements, lambda rng: BASE * kept(rng, *BASE.shape) * SCALE),
    "weights": (weights, sums),
    "regions": (regions, right),
    "regions of dropped weights": (partial(regions, keys=KEYS), of_dropped_sums),
    "a region without floor and kept": (
        partial(regions, params={"p": P, "dropped": (0, WIDE)}),
        lambda rng: normalised(kept(rng, 128, WIDE) * SCALE),
    ),
}
WRONG = {
    **{f"weights {name}": (weights, make) for name, make in WRONG_WEIGHTS.items()},
    **{f"elements {name}": (elements, make) for name, make in WRONG_ELEMENTS.items()},
    **{f"regions {name}": (regions, make) for name, make in WRONG_REGIONS.items()},
    "regions of weights that are not dropped": (partial(regions, keys=KEYS), right),
}


@pytest.mark.parametrize("kind", first_of_each(RIGHT))
def test_right_dropout_passes_whatever_the_seed(decide, kind):
    judge, make = RIGHT[kind]
    assert all(judge(decide, make(np.random.default_rng(seed))).passed for seed in range(SEEDS))


@pytest.mark.parametrize(("judge", "make"), WRONG.values(), ids=WRONG.keys())
def test_dropout_in_another_way_fails(decide, judge, make):
    assert not any(judge(decide, make(np.random.default_rng(seed))).passed for seed in range(5))


def test_weights_of_another_shape_fail(decide):
    params = {"p": P, "keys": KEYS, "features": FEATURES}
    want, got = np.zeros((64, 32, FEATURES)), np.zeros((0, 32, FEATURES))
    assert not decide("dropped_weights", {"out": want}, {"out": got}, **params).passed


def test_whole_rows_of_elements_dropped_together_fail(decide):
    base = np.ones((16, 16, 12), dtype=np.float32)
    gone = kept(np.random.default_rng(1), 16, 16, 1) * base * SCALE
    assert elements(decide, gone, evaluation=base).code in ("together", "rate")


def test_a_result_that_is_all_zeros_in_evaluation_fails(decide):
    # 1.2e-4 differs from zero in training, and 0.75 times this value is zero within the tolerance.
    assert not elements(decide, np.full_like(BASE, 1.2e-4), evaluation=BASE * 0).passed


def test_variation_in_another_region_fails(decide):
    params = {"p": P, "dropped": DROPPED, "floor": FLOOR}
    got = right(np.random.default_rng(1))
    assert regions(decide, got, params).passed
    got[30, 70] += 0.5
    assert regions(decide, got, params).code == "elsewhere dropped floor"


@pytest.mark.parametrize("rate", [0.1, 0.6])
def test_the_measured_rate_is_near_the_true_one(decide, rate):
    gone = np.random.default_rng(0).random((200, 50)) < rate
    found = elements(decide, np.where(gone, 0, SCALE), evaluation=np.ones(gone.shape))
    assert found.expected == f"{P:.0%}"
    assert abs(float(found.got.rstrip("%")) / 100 - rate) < 0.03


@pytest.mark.parametrize("rate", [0.1, 0.6])
def test_the_rate_of_dropped_weights_follows_from_the_spread_of_the_sums(decide, rate):
    left = (np.random.default_rng(0).random((4000, 8)) >= rate) / (1 - rate)
    out = np.repeat(left.mean(1)[:, None], 3, 1).reshape(100, 40, 3)
    found = decide("dropped_weights", {"out": out}, {"out": out}, p=P, keys=8, features=3)
    assert (found.code, found.expected) == ("rate", f"{P:.0%}")
    assert abs(float(found.got.rstrip("%")) / 100 - rate) < 0.03


def test_two_calls_in_training_must_differ(decide):
    want = {"one": BASE, "two": BASE}
    assert decide("varies", want, {"one": BASE, "two": BASE * 1.1}).passed
    assert not decide("varies", want, {"one": BASE, "two": BASE}).passed
    assert not decide("varies", want, {"one": BASE, "two": BASE[:1]}).passed
    assert not decide("varies", want, {"one": BASE * np.nan, "two": BASE * np.nan}).passed

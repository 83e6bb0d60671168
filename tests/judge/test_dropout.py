"""Right dropout passes for many seeds, and many kinds of wrong dropout fail."""

import numpy as np
import pytest

P, KEYS, FEATURES = 0.25, 8, 4
SEEDS = 2000
# The regions of a row of WIDE features, as (first, stop); see `rows_before`.
WIDE, DROPPED, FLOOR, KEPT = 128, (0, 64), (64, 96), (96, 128)
REGIONS = {"p": P, "dropped": DROPPED, "floor": FLOOR, "kept": KEPT}
SCALE = 1 / (1 - P)


def rng(seed=0):
    return np.random.default_rng(seed)


def kept(rng, *shape, p=P):
    """Return True for each value that dropout keeps."""
    return rng.random(shape, dtype=np.float32) >= p


# ---- attention weights: sums of KEYS equal weights, each sum repeated in FEATURES features


def sums(rng, rows=2048, p=P):
    mask = kept(rng, rows, KEYS, p=p) / (1 - p) / KEYS
    return np.repeat(mask.sum(1), FEATURES).reshape(64, -1, FEATURES).astype(np.float32)


def weights(decide, got):
    return decide(
        "dropped_weights", {"out": np.zeros(np.shape(got))}, {"out": got}, p=P, keys=KEYS, features=FEATURES
    )


@pytest.mark.slow
def test_rightly_dropped_weights_pass_whatever_the_seed(decide):
    assert all(weights(decide, sums(rng(seed))).passed for seed in range(SEEDS))


def rows_dropped_whole(rng):
    whole = kept(rng, 2048, 1) * np.ones((1, FEATURES)) * SCALE
    return whole.reshape(64, -1, FEATURES).astype(np.float32)


def normalised_again(rng):
    dropped = sums(rng)
    return dropped / np.maximum(dropped, 1e-9)


WRONG_WEIGHTS = {
    "none": lambda rng: np.ones((64, 32, FEATURES), dtype=np.float32),
    "before softmax": lambda rng: (
        np.ones((64, 32, FEATURES), dtype=np.float32) + rng.normal(size=(64, 32, 1)).astype("f4") * 1e-7
    ),
    "not scaled": lambda rng: sums(rng) * (1 - P),
    "scaled twice": lambda rng: sums(rng) * SCALE,
    "twice the rate": lambda rng: sums(rng, p=2 * P),
    "the share of kept values as the rate": lambda rng: sums(rng, p=1 - P),
    "half the rate": lambda rng: sums(rng, p=P / 2),
    "dropped twice": lambda rng: sums(rng, p=1 - (1 - P) ** 2),
    "dropout of the output": lambda rng: (kept(rng, 64, 32, FEATURES) * SCALE).astype("f4"),
    "dropout of weights and output": lambda rng: sums(rng) * kept(rng, 64, 32, FEATURES) * SCALE,
    "with something added": lambda rng: sums(rng) + np.float32(0.1),
    "whole rows": rows_dropped_whole,
    # 6 of the 8 weights are kept.
    "one mask for all": lambda rng: np.full((64, 32, FEATURES), 6 / KEYS * SCALE, dtype=np.float32),
    "everything": lambda rng: np.zeros((64, 32, FEATURES), dtype=np.float32),
    "NaN": lambda rng: np.where(sums(rng) > 1.3, np.nan, sums(rng)),
    "normalised again": normalised_again,
}


@pytest.mark.parametrize("wrong", WRONG_WEIGHTS)
def test_weights_dropped_in_another_way_fail(decide, wrong):
    assert not any(weights(decide, WRONG_WEIGHTS[wrong](rng(seed))).passed for seed in range(5))


def test_weights_of_another_shape_fail(decide):
    assert not decide(
        "dropped_weights",
        {"out": np.zeros((64, 32, 4))},
        {"out": np.zeros((0, 32, 4))},
        p=P,
        keys=8,
        features=4,
    ).passed


# ---- elements: in training, each is zero or its scaled value of evaluation


BASE = rng(9).standard_normal((8, 16, 12)).astype(np.float32) + np.float32(0.01)


def elements(decide, train, evaluation=BASE):
    want = {"train": BASE, "evaluation": BASE}
    return decide(
        "dropped_elements",
        want,
        {"train": np.asarray(train, dtype="f4"), "evaluation": np.asarray(evaluation, dtype="f4")},
        p=P,
    )


def test_rightly_dropped_elements_pass_whatever_the_seed(decide):
    assert all(elements(decide, BASE * kept(rng(seed), *BASE.shape) * SCALE).passed for seed in range(SEEDS))


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


@pytest.mark.parametrize("wrong", WRONG_ELEMENTS)
def test_elements_dropped_in_another_way_fail(decide, wrong):
    assert not any(elements(decide, WRONG_ELEMENTS[wrong](rng(seed))).passed for seed in range(5))


def test_whole_rows_of_elements_dropped_together_fail(decide):
    base = np.ones((16, 16, 12), dtype=np.float32)
    gone = kept(rng(1), 16, 16, 1) * base * SCALE
    want = {"train": base, "evaluation": base}
    got = {"train": gone.astype("f4"), "evaluation": base}
    assert decide("dropped_elements", want, got, p=P).code in ("together", "rate")


def test_a_result_that_is_all_zeros_in_evaluation_fails(decide):
    # 1.2e-4 differs from zero in training, and 0.75 times this value is zero within the tolerance.
    assert not elements(decide, np.full_like(BASE, 1.2e-4), evaluation=BASE * 0).passed


# ---- regions: features that are normalised after dropout


def normalised(row):
    centred = row - row.mean(-1, keepdims=True)
    return (centred / row.std(-1, keepdims=True)).astype(np.float32)


def rows_before(inside, count=128):
    """Return rows before the normalisation: `inside` in DROPPED, 0 in FLOOR, and a kept 1 in KEPT."""
    row = np.zeros((count, WIDE))
    row[:, slice(*DROPPED)] = inside
    row[:, slice(*KEPT)] = SCALE
    return row


def right(rng, count=128):
    return normalised(rows_before(kept(rng, count, 64) * SCALE))


def regions(decide, got, **params):
    shape = (16, 8, WIDE)
    return decide(
        "dropped_regions",
        {"out": np.zeros(shape)},
        {"out": np.asarray(got).reshape(shape)},
        **{**REGIONS, **params},
    )


@pytest.mark.slow
def test_rightly_dropped_regions_pass_whatever_the_seed(decide):
    assert all(regions(decide, right(rng(seed))).passed for seed in range(SEEDS))


@pytest.mark.slow
def test_regions_with_dropped_attention_weights_pass_for_every_seed(decide):
    def of_sums(rng):
        weights = (kept(rng, 128, KEYS) / KEYS * SCALE).sum(1, keepdims=True)
        return normalised(rows_before(weights * kept(rng, 128, 64) * SCALE))

    results = [regions(decide, of_sums(rng(seed)), keys=KEYS) for seed in range(SEEDS)]
    assert all(result.passed for result in results)


def test_a_region_without_floor_and_kept_passes_for_every_seed(decide):
    def alone(rng):
        return normalised(kept(rng, 128, WIDE) * SCALE)

    for seed in range(200):
        got = alone(rng(seed)).reshape(16, 8, WIDE)
        assert decide(
            "dropped_regions", {"out": np.zeros(got.shape)}, {"out": got}, p=P, dropped=(0, WIDE)
        ).passed


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


@pytest.mark.parametrize("wrong", WRONG_REGIONS)
def test_regions_dropped_in_another_way_fail(decide, wrong):
    assert not any(regions(decide, WRONG_REGIONS[wrong](rng(seed))).passed for seed in range(5))


def test_variation_in_a_steady_region_fails(decide):
    got = right(rng(1)).reshape(16, 8, WIDE)
    params = {"p": P, "dropped": DROPPED, "steady": FLOOR}
    assert decide("dropped_regions", {"out": np.zeros(got.shape)}, {"out": got}, **params).passed
    got[3, 4, 70] += 0.5
    assert (
        decide("dropped_regions", {"out": np.zeros(got.shape)}, {"out": got}, **params).code
        == "elsewhere dropped steady"
    )


def test_weights_that_are_not_dropped_before_they_are_summed_fail(decide):
    assert not any(regions(decide, right(rng(seed)), keys=KEYS).passed for seed in range(5))


# ---- two calls


def test_two_calls_in_training_must_differ(decide):
    want = {"one": BASE, "two": BASE}
    assert decide("varies", want, {"one": BASE, "two": BASE * 1.1}).passed
    assert not decide("varies", want, {"one": BASE, "two": BASE}).passed
    assert not decide("varies", want, {"one": BASE, "two": BASE[:1]}).passed
    assert not decide("varies", want, {"one": BASE * np.nan, "two": BASE * np.nan}).passed

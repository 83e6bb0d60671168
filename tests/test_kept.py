"""Kept attention weights become (B, H, T, S), from each layout that is right."""

import numpy as np
import pytest

from grader.kept import arranged
from grader.observation import Observation, Seen

B, H, T, S = 2, 3, 4, 5
WEIGHTS = np.random.default_rng(0).random((B, H, T, S))


def arrange(array, stacked=False, heads=H):
    seen = Seen(array.shape, "float32", array)
    observation = Observation({"w": seen}, stacked=frozenset(["w"] if stacked else []))
    return arranged(observation, [{"do": "weights", "name": "w", "heads": heads}]).seen["w"]


@pytest.mark.parametrize(
    ("array", "stacked"),
    [(WEIGHTS, False), (WEIGHTS.reshape(B * H, T, S), False), (WEIGHTS.swapaxes(0, 1), True)],
    ids=["four axes", "rows b·H + h", "a list of heads"],
)
def test_each_right_layout_becomes_the_same(array, stacked):
    seen = arrange(array, stacked)
    assert seen.shape == (B, H, T, S)
    assert np.array_equal(seen.array, WEIGHTS)


@pytest.mark.parametrize(
    "array",
    [
        np.ones((7, T, S)),
        np.ones((T, S)),
        np.ones(3),
        np.ones((0, 0, 5)),
        np.ones((6, 0, 5)),
        np.ones((3, 4, 0)),
    ],
)
def test_other_shapes_are_left_to_the_judge(array):
    arrange(array)


def test_without_heads_nothing_is_changed():
    assert arrange(WEIGHTS.reshape(B * H, T, S), heads=None).shape == (B * H, T, S)


def test_what_is_no_tensor_stays_what_it_is():
    seen = Observation({"w": Seen(odd="None")})
    assert arranged(seen, [{"do": "weights", "name": "w", "heads": H}]).seen["w"].odd == "None"

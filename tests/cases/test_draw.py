"""Random numbers of cases: equal for equal seeds, else different; sizes and lengths in which mistakes show."""

import numpy as np
import pytest

from grader.cases.draw import Draw


def test_a_stream_depends_on_the_seed_and_the_words():
    assert np.array_equal(Draw("a", "x").normal(3, 4), Draw("a", "x").normal(3, 4))
    assert not np.array_equal(Draw("a", "x").normal(3, 4), Draw("a", "y").normal(3, 4))
    assert not np.array_equal(Draw("a", "x").normal(3, 4), Draw("b", "x").normal(3, 4))


EXPECTED = [-0.5944297136394798, 1.7563453705399728, 0.502128946528224]


def test_the_first_numbers_are_the_same_on_every_machine():
    drawn = Draw("public", "02_masking", "masked_softmax").normal(3)
    assert drawn == pytest.approx(EXPECTED, abs=1e-15)


@pytest.mark.parametrize("seed", range(50))
def test_sizes_are_distinct_and_none_is_in_avoid(seed):
    sizes = Draw(str(seed)).sizes(3, low=2, high=7, avoid=(4,))
    assert len(set(sizes)) == 3
    assert 4 not in sizes
    assert all(2 <= n <= 7 for n in sizes)


def test_too_few_sizes_are_refused():
    with pytest.raises(ValueError, match="no 3 distinct sizes from 2 to 4 without"):
        Draw("a").sizes(3, low=2, high=4, avoid=(3,))


@pytest.mark.parametrize("seed", range(50))
@pytest.mark.parametrize("shape", [2, 5, (3, 4)])
def test_lengths_include_one_and_full_and_never_zero(seed, shape):
    lens = Draw(str(seed)).lens(shape, 6)
    assert {1, 6} <= set(lens.ravel().tolist())
    assert lens.min() >= 1
    assert lens.max() <= 6


def test_a_linear_layer_keeps_the_variance():
    weight = Draw("a").linear(400, 300)
    assert (weight @ Draw("b").normal(300)).std() == pytest.approx(1, rel=0.15)

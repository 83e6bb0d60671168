"""Stored attention weights in an accepted layout become (B, H, T, S); sentences become padded rows.

B: sequences, H: heads, T: queries, S: keys.
"""

import numpy as np
import pytest

from grader.judge.observation import MAX_ROWS, Observation, Seen, normalise_layouts
from grader.worker.steps import Ref, Sentences, Weights

B, H, T, S = 2, 3, 4, 5
WEIGHTS = np.random.default_rng(0).random((B, H, T, S))


def arrange(array, stacked=False, **step):
    """Return the weights after normalisation. stacked: the worker stacked them from a list."""
    seen = array if isinstance(array, Seen) else Seen(array.shape, "float32", array)
    observation = Observation({"w": seen}, stacked=frozenset(["w"] if stacked else []))
    return normalise_layouts(observation, [Weights("w", Ref("m"), **{"heads": H, **step})]).seen["w"]


@pytest.mark.parametrize(
    ("arranged", "stacked"),
    [(lambda w: w, False), (lambda w: w.reshape(B * H, T, S), False), (lambda w: w.swapaxes(0, 1), True)],
    ids=["four axes", "rows b·H + h", "a list of heads"],
)
def test_each_accepted_layout_becomes_b_h_t_s_of_one_or_more_layers(arranged, stacked):
    assert np.array_equal(arrange(arranged(WEIGHTS), stacked).array, WEIGHTS)
    layers = np.stack([WEIGHTS, 2 * WEIGHTS])
    several = np.stack([arranged(layer) for layer in layers])
    assert np.array_equal(arrange(several, stacked, layers=True, part=None).array, layers)


@pytest.mark.parametrize("shape", [(7, T, S), (T, S), (3,)])
def test_other_results_are_unchanged(shape):
    array = np.ones(shape)
    assert arrange(array).array is array
    assert arrange(WEIGHTS.reshape(B * H, T, S), heads=None).shape == (B * H, T, S)
    assert arrange(Seen(odd="None")).odd == "None"


@pytest.mark.parametrize("shape", [(0, 0, 5), (6, 0, 5), (3, 4, 0)])
def test_empty_weights_stay_empty(shape):
    assert arrange(np.ones(shape)).array.size == 0


# ---- sentences

EOS = 2


def written(*rows, steps=4, of_several_lengths=False):
    """Return the rows of token sentences after normalisation. steps: the length to which rows are padded."""
    width = max(map(len, rows))
    array = np.array([[*row, *[-1] * (width - len(row))] for row in rows], dtype=np.int64)
    stacked = frozenset(["s"] if of_several_lengths else [])
    seen = Observation({"s": Seen(array.shape, "int64", array)}, stacked=stacked)
    step = Sentences("s", Ref("out"), steps, EOS)
    return normalise_layouts(seen, [step]).seen["s"].array.tolist()


CUT = [[5, 8], [5, 8, EOS], [5, 8, EOS, EOS], [5, 8, EOS, 0], [5, 8, 0, 0], [5, 8, EOS, 9]]


@pytest.mark.parametrize(
    ("rows", "several_lengths", "sentences"),
    [
        *(([row], False, [[5, 8, -1, -1]]) for row in CUT),  # cut at their end, with any padding
        ([[5, EOS, 7, 8]], False, [[5, EOS, 7, 8]]),  # it continues after its end
        ([[5, 6, 7, 8, 9], [5]], False, [[5, 6, 7, 8, 9], [5, -1, -1, -1, -1]]),  # too long stays too long
        ([[EOS, EOS], [0, 0]], False, [[-1] * 4, [-1] * 4]),
        # Rows of several lengths keep an end token.
        (
            [[5, 8, EOS], [7, EOS], [5, 6, 7, 8]],
            True,
            [[5, 8, EOS, -1], [7, EOS, -1, -1], [5, 6, 7, 8]],
        ),
        ([[5, 8], [7]], True, [[5, 8, -1, -1], [7, -1, -1, -1]]),
    ],
)
def test_sentences_become_rows_that_are_cut_at_their_end(rows, several_lengths, sentences):
    assert written(*rows, of_several_lengths=several_lengths) == sentences


def test_sentences_with_too_many_rows_are_left_as_they_are():
    array = np.zeros((MAX_ROWS + 1, 1), dtype=np.int64)
    seen = Observation({"s": Seen(array.shape, "int64", array)})
    step = Sentences("s", Ref("out"), steps=1, eos=3)
    assert normalise_layouts(seen, [step]).seen["s"].array is array

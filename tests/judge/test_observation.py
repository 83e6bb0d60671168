"""Replies may come from student code: reading them is safe whatever they contain. Accepted layouts become one."""

import json
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

from grader.bundle.safetensors import encode
from grader.judge.observation import (
    MAX_KEPT,
    MAX_ROWS,
    Observation,
    Seen,
    normalise_layouts,
    read_observation,
    read_observations,
)
from grader.support.errors import BadData
from grader.worker.steps import Ref, Sentences, Weights

ASKED = frozenset({"out", "flag"})


def read(words=None, body=b"", files=None):
    """Read a reply. words: its JSON object, body: its tensors, files: the names of the submission's files."""
    return read_observation(words or {}, body, ASKED, files)


def test_a_requested_tensor_is_read_with_its_values():
    seen = read(body=encode({"out": np.arange(6.0).reshape(2, 3)})).seen["out"]
    assert (seen.shape, seen.dtype, seen.array.tolist()) == ((2, 3), "float64", [[0, 1, 2], [3, 4, 5]])


UNKNOWN_DTYPE = json.dumps({"0.123": {"dtype": "U64", "shape": [1], "data_offsets": [0, 8]}}).encode()


@pytest.mark.parametrize(
    "body",
    [
        encode({"0.123 0.456": np.ones(2)}),  # a tensor that was not requested
        len(UNKNOWN_DTYPE).to_bytes(8, "little") + UNKNOWN_DTYPE + b"\0" * 8,
    ],
)
def test_a_body_is_refused_without_quoting_it(body):
    with pytest.raises(BadData) as caught:
        read(body=body)
    assert "0.123" not in str(caught.value)


@pytest.mark.parametrize(
    ("shape", "is_refused"), [((1 << 46, 0), True), ((0, 1 << 17), True), ((3, 0), False)]
)
def test_an_empty_tensor_with_a_huge_axis_is_refused(shape, is_refused):
    """It has no bytes that limit its axes, so a loop over its rows would never end."""
    head = json.dumps({"out": {"dtype": "I64", "shape": list(shape), "data_offsets": [0, 0]}}).encode()
    body = len(head).to_bytes(8, "little") + head
    with pytest.raises(BadData) if is_refused else nullcontext():
        assert read(body=body).seen["out"].shape == shape


def test_a_tensor_that_is_too_large_is_read_without_its_values():
    seen = read(body=encode({"out": np.zeros(8 * MAX_KEPT + 1, dtype=np.int8)})).seen["out"]
    assert seen.shape == (8 * MAX_KEPT + 1,)
    assert seen.array is None


def test_the_description_of_a_non_tensor_is_cut_to_size():
    odd = {"out": {"is": "a tuple of 2" + "x" * 500}, "other": {"is": "None"}}
    seen = read({"odd": odd}).seen
    assert seen.keys() == {"out"}
    assert seen["out"].odd.startswith("a tuple of 2")
    assert len(seen["out"].odd) <= 120


def test_a_description_does_not_replace_a_tensor():
    seen = read({"odd": {"out": {"is": "None"}}}, encode({"out": np.ones(2)})).seen["out"]
    assert (seen.odd, seen.shape) == ("", (2,))


def test_only_requested_numbers_and_booleans_are_read_as_values():
    values = {"flag": True, "out": "text", "other": 5}
    assert read({"values": values}).values == {"flag": True}


def test_an_error_has_the_students_line_and_a_shortened_message():
    where = {"file": "a.py", "line": 3, "text": "x = y"}
    sent = {"type": "NameError", "message": "m" * 9000, "where": where, "step": "call"}
    error = read({"error": sent}, files=frozenset({"a.py"})).error
    assert (error.type, error.where, error.step) == ("NameError", ("a.py", 3, "x = y"), "call")
    assert len(error.message) == 2000


@pytest.mark.parametrize(
    "where",
    [
        {"file": "0.123 0.456", "line": 3},
        {"file": "a.py", "line": 10**30},
        {"file": "a.py", "line": -1},
        {"file": "a.py", "line": "3"},
        5,
    ],
)
def test_a_place_outside_the_submission_is_left_out(where):
    sent = {"type": "E", "message": "", "where": where}
    assert read({"error": sent}, files=frozenset({"a.py"})).error.where is None


@pytest.mark.parametrize("shared", [[["a"]], [["a", "b", "c"]], [[]], [5], "ab", {"a": "b"}, [["a", 5]]])
def test_shared_parameters_come_in_pairs_or_not_at_all(shared):
    assert read({"parameters": {"shared": shared}}).parameters["shared"] == []


def test_only_texts_and_sizes_of_parameters_are_read():
    sent = {
        "missing": ["W_q"],
        "unexpected": 5,
        "shared": [["a", "b"]],
        "layout": "x",
        "shapes": {"W": [2, "3", 4]},
    }
    assert read({"parameters": sent}).parameters == {
        "missing": ["W_q"], "unexpected": [], "misshapen": [], "shared": [["a", "b"]], "layout": "x", "shapes": {"W": [2, 4]},
    }  # fmt: skip


def test_only_requested_results_can_be_stacked():
    # Stacked: the worker made one tensor of a list of tensors.
    assert read({"stacked": ["out", "other", 5]}).stacked == {"out"}


CASES = [SimpleNamespace(asked=ASKED)] * 2


def test_replies_about_several_cases_are_read_in_their_order():
    bodies = [encode({"out": np.zeros(1)}), b""]
    words = {"replies": [{}, {"values": {"flag": True}}], "sizes": [len(body) for body in bodies]}
    first, second = read_observations(words, b"".join(bodies), CASES, frozenset())
    assert (list(first.seen), first.values) == (["out"], {})
    assert (list(second.seen), second.values) == ([], {"flag": True})
    (only,) = read_observations({"replies": [{}], "sizes": [0]}, b"", CASES, frozenset())
    assert only.seen == {}


@pytest.mark.parametrize(
    ("replies", "sizes"),
    [({}, []), ([{}], []), ([{}], [1]), ([{}, {}], [-1, 1]), ([{}, {}], [False, False]), ([{}] * 3, [0] * 3)],
)
def test_replies_that_do_not_fit_the_cases_are_refused(replies, sizes):
    for words in ({}, {"replies": replies, "sizes": sizes}):
        with pytest.raises(BadData):
            read_observations(words, b"", CASES, frozenset())


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

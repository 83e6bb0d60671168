"""Judges of trained models: accuracy, generated sentences, returned state dicts and their weights."""

import numpy as np
import pytest

from grader.judge.observation import Seen

LABELS = np.array([[3, 4, 2], [5, 2, 0], [6, 7, 2], [3, 2, 0]], dtype=np.uint8)
LENS = np.array([3, 2, 3, 2], dtype=np.uint8)


def scores(words):
    return np.eye(9, dtype=np.float32)[words]


@pytest.fixture
def judged(decide):
    """Return a function that judges scores: the shares of sentences whose best tokens are LABELS."""
    texts = {"labels": LABELS, "lens": LENS}
    params = {"for_judge": texts, "labels": "labels", "lens": "lens", "least": 0.5}
    return lambda array: decide("accuracy", {"s": scores(LABELS)}, {"s": array}, **params)


def test_a_sentence_is_right_if_each_best_token_is_right(judged):
    assert judged(scores(LABELS)).message == "100 % of 4 test sequences are correct"


def test_tokens_after_a_sentence_do_not_count(judged):
    words = LABELS.copy()
    words[1, 2] = words[3, 2] = 8
    assert judged(scores(words)).passed


def test_one_wrong_word_makes_a_sentence_wrong(judged):
    words = LABELS.copy()
    words[0, 1] = words[1, 1] = words[2, 2] = 8
    finding = judged(scores(words))
    assert (finding.passed, finding.code) == (False, "accuracy")
    assert finding.message == "25 % of 4 test sequences are correct; at least 50 % required"
    assert (finding.expected, finding.got, finding.where) == ("3 4 2", "3 8 2", "sequence 0")


def test_exactly_the_required_share_of_sentences_passes(judged):
    words = LABELS.copy()
    words[:2, 0] = 8
    assert judged(scores(words)).passed


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_sentences_with_nan_or_inf_in_the_scores_are_wrong(judged, bad):
    array = scores(LABELS)
    array[:3, 0, 0] = bad
    assert not judged(array).passed


def test_scores_of_another_shape_are_wrong(judged):
    assert "wrong shape" in judged(scores(LABELS)[:, :2]).message


@pytest.mark.parametrize(
    ("got", "code", "shown"),
    [
        ([[3, 4, -1], [5, -1, -1]], "", ""),
        ([[3, 4], [5, 6]], "values", "5 6"),
        ([[3, 4], [-1, -1]], "values", "(nothing)"),
        ([[3, 4]], "count 1", ""),
        (Seen(odd="None"), "odd", "None"),
    ],
)
def test_sentences_are_compared_word_for_word(decide, got, code, shown):
    found = decide("sentences", {"s": np.array([[3, 4], [5, -1]])}, {"s": got})
    assert (found.passed, found.code, found.got) == (not code, code, shown)
    assert (found.expected, found.where) == ("5", "sentence 1") or code != "values"


STATE = {"state a": np.array([1.0, -1.0, 2.0]), "state b": np.ones(1)}


def test_a_state_dict_must_be_complete_and_of_the_right_shapes(decide):
    def trained(**state):
        return decide("trained", STATE, {f"state {name}": value for name, value in state.items()})

    a, b = STATE.values()
    assert trained(a=a, b=b).passed
    assert trained(a=a).message == "the returned state dict has no b"
    assert trained(a=Seen(odd="None"), b=Seen(odd="None")).message == "expected a state dict, got None"
    assert trained(a=b, b=b).where == "a"


@pytest.mark.parametrize(
    ("a", "b", "code"),
    [
        ([1.0, -1.0, 2.0], [1.0], "as begun"),
        ([1.0, -1.0, 1.9], [1.0], ""),
        ([1.0, -1.0, 2.0], [1.5], ""),
        ([0.0, 0.0, 0.0], [1.0], "other weights"),
        ([7.0, 7.0, 7.0], [7.0], "other weights"),
        ([1.0, np.nan, 2.0], [1.0], "not finite"),
        ([1.0, -1.0, 1.9], None, "absent"),
    ],
)
def test_returned_weights_must_be_changed_but_like_the_initial_ones(decide, a, b, code):
    begun = {name.replace("state ", "m."): value for name, value in STATE.items()}
    got = {name: value for name, value in {"state a": a, "state b": b}.items() if value is not None}
    found = decide("moved", STATE, got, tensors=begun, module="m")
    assert (found.passed, found.code) == (not code, code)

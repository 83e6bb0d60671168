"""Judges of trained models: accuracy, generated sentences, returned state dicts and their weights."""

import numpy as np
import pytest

from grader.bundle.model import Check, Header, RecordedCase
from grader.judge import decide
from grader.judge.generated_text import moved, sentences, trained
from grader.judge.observation import Observation, Seen

LABELS = np.array([[3, 4, 2], [5, 2, 0], [6, 7, 2], [3, 2, 0]], dtype=np.uint8)
LENS = np.array([3, 2, 3, 2], dtype=np.uint8)
PARAMS = {"labels": "labels", "lens": "lens", "least": 0.5}


def case(headers, expected=None, tensors=None, for_judge=None):
    return RecordedCase("c", "e", "float32", (), (), tensors or {}, headers, expected or {}, for_judge or {})


def scores(words):
    return np.eye(9, dtype=np.float32)[words]


def judged(array):
    seen = Observation({"s": Seen(array.shape, "float32", array)})
    recorded = case({"s": Header((4, 3, 9), "float32")}, for_judge={"labels": LABELS, "lens": LENS})
    return decide(Check("c/values", "values", "t", "accuracy", ("s",), PARAMS), recorded, seen)


def test_a_sentence_is_right_if_each_best_token_is_right():
    assert judged(scores(LABELS)).message == "100 % of 4 test sequences are correct"


def test_tokens_after_a_sentence_do_not_count():
    words = LABELS.copy()
    words[1, 2] = words[3, 2] = 8
    assert judged(scores(words)).passed


def test_one_wrong_word_makes_a_sentence_wrong():
    words = LABELS.copy()
    words[0, 1] = words[1, 1] = words[2, 2] = 8
    finding = judged(scores(words))
    assert (finding.passed, finding.code) == (False, "accuracy")
    assert finding.message == "25 % of 4 test sequences are correct; at least 50 % required"
    assert (finding.expected, finding.got, finding.where) == ("3 4 2", "3 8 2", "sequence 0")


def test_exactly_the_required_share_of_sentences_passes():
    words = LABELS.copy()
    words[:2, 0] = 8
    assert judged(scores(words)).passed


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_sentences_with_nan_or_inf_in_the_scores_are_wrong(bad):
    array = scores(LABELS)
    array[:3, 0, 0] = bad
    assert not judged(array).passed


def test_scores_of_another_shape_are_wrong():
    assert "wrong shape" in judged(scores(LABELS)[:, :2]).message


def judged_sentences(got, odd=""):
    want = np.array([[3, 4], [5, -1]])
    seen = Seen(odd=odd) if odd else Seen(got.shape, "int64", got)
    recorded = case({"s": Header((2, 2), "int64")}, {"s": want})
    check = Check("c/values", "values", "t", "sentences", ("s",))
    return sentences(check, recorded, Observation({"s": seen}))


def test_sentences_are_compared_word_for_word():
    assert judged_sentences(np.array([[3, 4, -1], [5, -1, -1]])).passed
    finding = judged_sentences(np.array([[3, 4], [5, 6]]))
    assert (finding.passed, finding.expected, finding.got, finding.where) == (False, "5", "5 6", "sentence 1")
    assert judged_sentences(np.array([[3, 4], [-1, -1]])).got == "(nothing)"
    assert judged_sentences(np.array([[3, 4]])).message == "expected 2 sentences, got 1"
    assert judged_sentences(None, "None").message == "expected a tensor, got None"


def test_a_state_dict_must_be_complete_and_of_the_right_shapes():
    check = Check("c/shapes", "shapes", "t", "trained", ("state a", "state b"))
    recorded = case({"state a": Header((2,), "float32"), "state b": Header((3,), "float32")})
    a, b = Seen((2,), "float32", np.zeros(2)), Seen((3,), "float32", np.zeros(3))
    assert trained(check, recorded, Observation({"state a": a, "state b": b})).passed
    missing = trained(check, recorded, Observation({"state a": a}))
    assert missing.message == "the returned state dict has no b"
    odd = trained(check, recorded, Observation({"state a": Seen(odd="None"), "state b": Seen(odd="None")}))
    assert odd.message == "expected a state dict, got None"
    assert trained(check, recorded, Observation({"state a": b, "state b": b})).where == "a"


def test_returned_weights_must_be_changed_but_like_the_initial_ones():
    check = Check("c/values", "values", "t", "moved", ("state a", "state b"), {"module": "m"})
    recorded = case(
        {"state a": Header((3,), "float32"), "state b": Header((1,), "float32")},
        tensors={"m.a": np.array([1.0, -1.0, 2.0]), "m.b": np.ones(1)},
    )

    def judged_weights(a, b):
        seen = {"state a": Seen((3,), "float32", np.array(a)), "state b": Seen((1,), "float32", np.array(b))}
        return moved(check, recorded, Observation(seen))

    assert judged_weights([1.0, -1.0, 2.0], [1.0]).code == "as begun"
    assert judged_weights([1.0, -1.0, 1.9], [1.0]).passed
    assert judged_weights([1.0, -1.0, 2.0], [1.5]).passed
    assert judged_weights([0.0, 0.0, 0.0], [1.0]).code == "other weights"
    assert judged_weights([7.0, 7.0, 7.0], [7.0]).code == "other weights"
    assert judged_weights([1.0, np.nan, 2.0], [1.0]).code == "not finite"
    assert moved(check, recorded, Observation({})).code == "absent"

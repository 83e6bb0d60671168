"""How many sentences a trained model gets right, and which words it wrote."""

import numpy as np
import pytest

from grader.bundle.check import Check
from grader.bundle.model import Header, RecordedCase
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
    one = case({"s": Header((4, 3, 9), "float32")}, for_judge={"labels": LABELS, "lens": LENS})
    return decide(Check("c/values", "values", "t", "accuracy", ("s",), PARAMS), one, seen)


def test_a_sentence_counts_when_every_word_of_it_is_the_best_one():
    assert judged(scores(LABELS)).message == "100 % of 4 test sequences are correct"


def test_what_follows_a_sentence_does_not_count():
    words = LABELS.copy()
    words[1, 2] = words[3, 2] = 8
    assert judged(scores(words)).passed


def test_one_wrong_word_makes_a_sentence_wrong_and_is_shown():
    words = LABELS.copy()
    words[0, 1] = words[1, 1] = words[2, 2] = 8
    finding = judged(scores(words))
    assert (finding.passed, finding.code) == (False, "accuracy")
    assert finding.message == "25 % of 4 test sequences are correct; at least 50 % required"
    assert (finding.expected, finding.got, finding.where) == ("3 4 2", "3 8 2", "sequence 0")


def test_exactly_as_many_as_asked_for_are_enough():
    words = LABELS.copy()
    words[:2, 0] = 8
    assert judged(scores(words)).passed


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_scores_that_are_no_numbers_are_wrong(odd):
    array = scores(LABELS)
    array[:3, 0, 0] = odd
    assert not judged(array).passed


def test_scores_of_another_shape_are_wrong():
    assert "wrong shape" in judged(scores(LABELS)[:, :2]).message


def of_sentences(got, odd=""):
    want = np.array([[3, 4], [5, -1]])
    seen = Seen(odd=odd) if odd else Seen(got.shape, "int64", got)
    one = case({"s": Header((2, 2), "int64")}, {"s": want})
    return sentences(Check("c/values", "values", "t", "sentences", ("s",)), one, Observation({"s": seen}))


def test_sentences_are_compared_word_for_word():
    assert of_sentences(np.array([[3, 4, -1], [5, -1, -1]])).passed
    finding = of_sentences(np.array([[3, 4], [5, 6]]))
    assert (finding.passed, finding.expected, finding.got, finding.where) == (False, "5", "5 6", "sentence 1")
    assert of_sentences(np.array([[3, 4], [-1, -1]])).got == "(nothing)"
    assert of_sentences(np.array([[3, 4]])).message == "expected 2 sentences, got 1"
    assert of_sentences(None, "None").message == "expected a tensor, got None"


def test_a_state_dict_must_be_there_whole():
    check = Check("c/shapes", "shapes", "t", "trained", ("state a", "state b"))
    one = case({"state a": Header((2,), "float32"), "state b": Header((3,), "float32")})
    a, b = Seen((2,), "float32", np.zeros(2)), Seen((3,), "float32", np.zeros(3))
    assert trained(check, one, Observation({"state a": a, "state b": b})).passed
    missing = trained(check, one, Observation({"state a": a}))
    assert missing.message == "the returned state dict has no b"
    odd = trained(check, one, Observation({"state a": Seen(odd="None"), "state b": Seen(odd="None")}))
    assert odd.message == "expected a state dict, got None"
    assert trained(check, one, Observation({"state a": b, "state b": b})).where == "a"


def test_what_came_back_must_be_the_weights_of_before_moved():
    check = Check("c/values", "values", "t", "moved", ("state a", "state b"), {"module": "m"})
    one = case(
        {"state a": Header((3,), "float32"), "state b": Header((1,), "float32")},
        tensors={"m.a": np.array([1.0, -1.0, 2.0]), "m.b": np.ones(1)},
    )

    def of(a, b):
        seen = {"state a": Seen((3,), "float32", np.array(a)), "state b": Seen((1,), "float32", np.array(b))}
        return moved(check, one, Observation(seen))

    assert of([1.0, -1.0, 2.0], [1.0]).code == "as begun"
    assert of([1.0, -1.0, 1.9], [1.0]).passed
    assert of([1.0, -1.0, 2.0], [1.5]).passed
    assert of([0.0, 0.0, 0.0], [1.0]).code == "other weights"
    assert of([7.0, 7.0, 7.0], [7.0]).code == "other weights"
    assert of([1.0, np.nan, 2.0], [1.0]).code == "not finite"
    assert moved(check, one, Observation({})).code == "absent"

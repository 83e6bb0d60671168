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


@pytest.mark.parametrize(
    ("wrong", "share"),
    [
        ([], 100),
        ([(1, 2), (3, 2)], 100),  # tokens after a sentence do not count
        ([(0, 1), (1, 1), (2, 2)], 25),
        ([(0, 0), (1, 0)], 50),  # exactly the required share
    ],
)
def test_a_sentence_is_right_if_each_best_token_is_right(judged, wrong, share):
    words = LABELS.copy()
    for place in wrong:
        words[place] = 8
    found = judged(scores(words))
    assert found.passed == (share >= 50)
    assert found.message.startswith(f"{share} % of 4 test sequences are correct")
    if not found.passed:
        assert (found.code, found.expected, found.got, found.where) == (
            "accuracy",
            "3 4 2",
            "3 8 2",
            "sequence 0",
        )


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_sentences_with_nan_or_inf_in_the_scores_are_wrong(judged, bad):
    array = scores(LABELS)
    array[:3, 0, 0] = bad
    assert not judged(array).passed


@pytest.mark.parametrize(
    ("losses", "says"),
    [
        ([0.5, 1.5], ""),  # the mean is exactly the limit
        ([0.5, 1.6], "the loss on new text is 1.050; at most 1 required"),
        ([0.5, np.nan], "the loss on new text is NaN or inf"),
        ([0.1, 0.28], "the loss on new text is 0.190, and no model can come that low"),
    ],
)
def test_the_mean_loss_of_new_text_is_at_most_the_limit(decide, losses, says):
    want, got = ({"l": np.array(rows, dtype=np.float32)} for rows in ([0, 0], losses))
    found = decide("loss", want, got, most=1.0, least=0.2)
    assert (found.passed, found.message if says else "") == (not says, says)


@pytest.mark.parametrize(
    ("second", "passes"),
    [(1.0, False), (1.1, True), (1.5, True), (1.6, False), (0.5, False), (np.nan, False)],
)
def test_the_loss_rises_from_the_first_text_to_the_second(decide, second, passes):
    rows = {"a": np.array([0.5, 1.5]), "b": np.array([second, second])}
    found = decide("rise", rows, rows, least=0.05, most=0.55, says="it forgets")
    assert found.passed == passes
    assert passes or found.message == f"it forgets: the loss goes from 1.000 to {second:.3f}"


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

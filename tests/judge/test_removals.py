"""Judges of the cost after pruning, of rankings of heads, and of removal experiments."""

import numpy as np
import pytest

from grader.judge.observation import Seen
from grader.judge.removals import spearman


@pytest.mark.parametrize(
    ("after", "code"),
    [(26, ""), (7, ""), (6, "little"), (1, "little"), (27, "cost 27"), (48, "cost 48"), (50, "whole")],
)
def test_the_cost_after_is_limited_by_kept_parts_and_fixed_cost(decide, after, code):
    """At most 26 of 50 may be left: half of 48, and the fixed 2. Less than a quarter of 26 is too little."""
    got = decide("cost", {}, {}, of=("a", "b"), values={"a": 50, "b": after}, kept=1, total=2, fixed=2)
    assert (got.passed, got.code) == (not code, code)


def test_a_count_that_is_missing_or_impossible_fails(decide):
    impossible = (None, 0, -25, True, 25.0, float("nan"), float("inf"), 1 << 62, 10**400)
    for values in (
        {"a": 50},
        *({"a": 50, "b": x} for x in impossible),
        *({"a": x, "b": 25} for x in impossible),
    ):
        assert decide("cost", {}, {}, of=("a", "b"), values=values, kept=1, total=2, fixed=0).code == "odd"


@pytest.mark.parametrize(
    ("one", "other", "rank"),
    [
        ([1, 2, 3, 4], [10, 20, 30, 400], 1),
        ([1, 2, 3, 4], [4, 3, 2, 1], -1),
        ([1, 2, 3, 4], [2, 1, 4, 3], 0.6),  # 1 - 6·4/(4·15)
        ([1, 1, 2], [1, 2, 3], 0.8660254),  # ties share a rank
        ([0, 0, 0], [0, 1, 2], 0),
    ],
)
def test_rank_correlation_is_spearmans(one, other, rank):
    assert spearman(np.array(one, dtype=float), np.array(other, dtype=float)) == pytest.approx(rank)


@pytest.mark.parametrize(
    ("found", "passes"),
    [([0.1, 0.9, 0.5, 0.2], True), ([1, 3, 2, 4], False), ([4, 3, 2, 1], False), ([np.nan] * 4, False)],
)
def test_heads_must_rank_as_planted(decide, found, passes):
    want = {"x": np.zeros(4)}
    got = decide("ranks", want, {"x": np.array(found, dtype=float)}, planted=[1, 4, 3, 2], least=0.9)
    assert got.passed is passes


# The number of right answers of ten, per set of removed heads; the bits of the index are the heads.
LEFT = [10, 6, 8, 4, 9, 5, 7, 0]
PARAMS = {"heads": 3, "table": LEFT, "total": 10, "planted": [3.0, 2.0, 1.0], "least": 0.9}
JUDGES = ("all_rows", "accuracies", "in_order", "drawn")
WANT = {"r": np.zeros((1, 6))}


def rows(importance=(2, 1, 0), random=lambda seed: np.roll([0, 1, 2], seed), seeds=3):
    """Return the rows of a right experiment with three heads; the arguments are orders of removal.

    A row has the seed, the order (0: importance, 1: random, 2: reverse), the accuracy, and the removed heads, padded
    with -1.
    """
    out = []
    for seed in range(seeds):
        for order, chain in enumerate((importance, random(seed), (0, 1, 2))):
            out += [[seed, order, 0, *chain[:size], *[-1] * (3 - size)] for size in range(3)]
    return with_accuracies(lambda gone: LEFT[gone] / 10, np.array(out, dtype=float))


def removed(array):
    """Return the index in LEFT of each row."""
    return [sum(1 << int(head) for head in row[3:] if head >= 0) for row in array]


def with_accuracies(accuracy, array=None):
    """Return rows whose accuracies are a function of the index in LEFT."""
    array = rows() if array is None else array
    array[:, 2] = [accuracy(gone) for gone in removed(array)]
    return array


def with_entry(place, column, value):
    array = rows()
    array[place, column] = value
    return array


def failing(decide, array):
    """Return the judges that fail."""
    return [judge for judge in JUDGES if not decide(judge, WANT, {"r": array}, **PARAMS).passed]


@pytest.fixture
def code(decide):
    """Return a function that returns the code of a judge's finding."""
    return lambda judge, array: decide(judge, WANT, {"r": array}, **PARAMS).code


@pytest.mark.parametrize("right", [rows(), rows()[::-1], rows()[rows()[:, 3] >= 0], rows(seeds=5)])
def test_a_right_experiment_passes_with_rows_in_any_order(decide, right):
    assert failing(decide, right) == []


@pytest.mark.parametrize(
    ("wrong", "judges"),
    [
        (rows(seeds=2), ["all_rows"]),
        (rows()[rows()[:, 1] != 2], ["all_rows", "in_order"]),
        (np.delete(rows(), 5, axis=0), ["all_rows"]),
        (with_entry(1, 2, 0.7), ["accuracies"]),
        (with_entry(1, 2, np.nan), ["accuracies"]),
        (with_entry(2, 3, 0), ["all_rows", "accuracies"]),  # a removed head reappears
        (with_entry(1, 3, 7), ["all_rows", "accuracies", "in_order"]),  # no such head
        (with_entry(1, 3, 1e300), ["all_rows", "accuracies", "in_order"]),
        (with_entry(1, 3, 0.5), ["all_rows", "accuracies", "in_order"]),
    ],
)
def test_missing_or_wrong_rows_fail_in_the_judges_concerned(decide, wrong, judges):
    found = failing(decide, wrong)
    assert found
    # The judges of `judges` fail and no others, except that `in_order` may fail or pass.
    assert {*found, "in_order"} == {*judges, "in_order"}


def test_orders_must_be_what_their_names_say(code):
    exchanged = rows()
    exchanged[:, 1] = 2 - exchanged[:, 1]  # the names of importance and reverse
    assert code("in_order", exchanged) == "importance turned"
    assert code("drawn", rows(random=lambda seed: [0, 1, 2])) == "one order"
    for order in ((1, 2, 0), (1, 0, 2)):  # two wrong orders have different codes
        assert code("in_order", rows(importance=order)) == f"importance other {order[0]} {order[1]}"


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (" percent", with_accuracies(lambda gone: 10 * LEFT[gone])),
        (" errors", with_accuracies(lambda gone: 1 - LEFT[gone] / 10)),
        (" the others", with_accuracies(lambda gone: LEFT[7 ^ gone] / 10)),
        (" none removed", with_accuracies(lambda gone: 1.0)),
        (" no shares", with_entry(slice(None), 2, 0.83 + np.arange(27) / 7)),  # above 1, as a loss may be
        ("", with_entry(1, 2, 0.7)),
        ("", with_entry(1, 2, 0.7123)),
    ],
)
def test_the_way_in_which_accuracies_are_wrong_is_distinguished(code, kind, wrong):
    assert code("accuracies", wrong) == f"accuracies{kind}"


@pytest.mark.parametrize("by_size", [False, True])
def test_heads_never_restored_are_found_in_any_order_of_rows(code, by_size):
    array = rows()
    if by_size:
        array = array[np.argsort((array[:, 3:] >= 0).sum(1), kind="stable")]
    gone = np.bitwise_or.accumulate(removed(array))
    # Without any head, some answers are right, too.
    array[:, 2] = [0.3 if heads == 7 else LEFT[heads] / 10 for heads in gone]
    assert code("accuracies", array) == "accuracies never restored"


@pytest.mark.parametrize("judge", JUDGES)
def test_a_result_that_is_not_a_list_of_rows_is_reported(decide, judge):
    found = decide(judge, WANT, {"r": Seen(odd="a row without 'removed'")}, **PARAMS)
    assert (found.code, found.message.endswith("got a row without 'removed'")) == ("odd", True)
    assert not decide(judge, WANT, {}, **PARAMS).passed
    assert not decide(judge, WANT, {"r": np.zeros((0, 6))}, **PARAMS).passed

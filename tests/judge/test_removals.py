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
WANT = {"r": np.zeros((1, 6))}
PARAMS = {"heads": 3, "table": LEFT, "total": 10, "planted": [3.0, 2.0, 1.0], "least": 0.9}
JUDGES = ("all_rows", "accuracies", "in_order", "drawn")


def index_of(removed):
    """Return the index in LEFT of removed heads; -1 is padding."""
    return sum(1 << int(head) for head in removed if head >= 0)


def rows(*changes, seeds=3):
    """Return the rows of a right experiment with three heads, after `changes`.

    A row has the seed, the order (0: importance, 1: random, 2: reverse), the accuracy, and the removed heads, padded
    with -1. The random order depends on the seed.
    """
    orders = {0: [2, 1, 0], 2: [0, 1, 2]}
    out = []
    for seed in range(seeds):
        for order in range(3):
            chain = orders.get(order) or np.roll([0, 1, 2], seed).tolist()
            for size in range(3):
                removed = chain[:size]
                out.append([seed, order, LEFT[index_of(removed)] / 10, *removed, *[-1] * (3 - size)])
    for change in changes:
        change(out)
    return {"r": np.array(out, dtype=float)}


def without(*, order=None, size=None, seed=None):
    """Return a change that removes the rows with this order, number of heads and seed."""

    def is_removed(row):
        heads = sum(head >= 0 for head in row[3:])
        return order in (None, row[1]) and seed in (None, row[0]) and size in (None, heads)

    def change(out):
        out[:] = [row for row in out if not is_removed(row)]

    return change


def put(place, column, value):
    """Return a change of one entry. place: the index of its row."""

    def change(out):
        out[place][column] = value

    return change


def failing(decide, got):
    """Return the judges that fail."""
    return [judge for judge in JUDGES if not decide(judge, WANT, got, **PARAMS).passed]


def test_a_right_experiment_passes_with_rows_in_any_order(decide):
    assert failing(decide, rows()) == []
    assert failing(decide, {"r": rows()["r"][::-1]}) == []
    assert failing(decide, rows(without(size=0))) == []
    assert failing(decide, rows(seeds=5)) == []


@pytest.mark.parametrize(
    ("change", "judges"),
    [
        (without(seed=2), ["all_rows"]),
        (without(order=2), ["all_rows", "in_order"]),
        (without(order=1, size=2, seed=0), ["all_rows"]),
        (put(1, 2, 0.7), ["accuracies"]),
        (put(1, 2, np.nan), ["accuracies"]),
        (put(2, 3, 0), ["all_rows", "accuracies"]),  # a removed head reappears
        (put(1, 3, 7), ["all_rows", "accuracies", "in_order"]),  # no such head
        (put(1, 3, 1e300), ["all_rows", "accuracies", "in_order"]),
        (put(1, 3, 0.5), ["all_rows", "accuracies", "in_order"]),
    ],
)
def test_missing_or_wrong_rows_fail_in_the_judges_concerned(decide, change, judges):
    found = failing(decide, rows(change))
    assert found
    # The judges of `judges` fail and no others, except that `in_order` may fail or pass.
    assert {*found, "in_order"} == {*judges, "in_order"}


def test_orders_must_be_what_their_names_say(decide):
    def exchange(out):
        """Exchange the names of importance and reverse."""
        for row in out:
            row[1] = {0: 2, 2: 0}.get(row[1], row[1])

    found = decide("in_order", WANT, rows(exchange), **PARAMS)
    assert found.code == "importance turned"

    def same(out):
        """Give each seed the random order of seed 0, whose rows are the first nine."""
        right = rows()["r"]
        for i, row in enumerate(out):
            if row[1] == 1:
                row[2:] = right[i % 9, 2:]

    assert decide("drawn", WANT, rows(same), **PARAMS).code == "one order"


@pytest.mark.parametrize(
    ("kind", "accuracy"),
    [
        ("percent", lambda gone: 10 * LEFT[gone]),
        ("errors", lambda gone: 1 - LEFT[gone] / 10),
        ("the others", lambda gone: LEFT[7 ^ gone] / 10),
        ("none removed", lambda gone: 1.0),
    ],
)
def test_the_way_in_which_accuracies_are_wrong_is_distinguished(decide, kind, accuracy):
    def change(out):
        for row in out:
            row[2] = accuracy(index_of(row[3:]))

    assert decide("accuracies", WANT, rows(change), **PARAMS).code == f"accuracies {kind}"


def test_heads_never_restored_are_found_in_any_order_of_rows(decide):
    def never_restored(out):
        gone = 0
        for row in out:
            gone |= index_of(row[3:])
            row[2] = 0.3 if gone == 7 else LEFT[gone] / 10  # without any head, some answers are right, too

    by_order = rows(never_restored)
    by_size = rows(lambda out: out.sort(key=lambda row: sum(h >= 0 for h in row[3:])), never_restored)
    for got in (by_order, by_size):
        assert decide("accuracies", WANT, got, **PARAMS).code == "accuracies never restored"


def test_wrong_accuracies_of_no_known_kind_get_a_general_code(decide):
    def loss(out):
        """Write a value above 1, as a loss may have, into most rows."""
        for number, row in enumerate(out):
            row[2] = 0.83 + number / 7

    assert decide("accuracies", WANT, rows(loss), **PARAMS).code == "accuracies no shares"
    assert decide("accuracies", WANT, rows(put(1, 2, 0.7)), **PARAMS).code == "accuracies"
    assert decide("accuracies", WANT, rows(put(1, 2, 0.7123)), **PARAMS).code == "accuracies"


def test_two_wrong_orders_have_different_codes(decide):
    def order(*heads):
        def change(out):
            for row in out:
                if row[1] == 0:
                    size = sum(h >= 0 for h in row[3:])
                    row[3:] = [*heads[:size], *[-1] * (3 - size)]

        return decide("in_order", WANT, rows(change), **PARAMS).code

    assert order(1, 2, 0) == "importance other 1 2"
    assert order(1, 0, 2) == "importance other 1 0"


@pytest.mark.parametrize("judge", JUDGES)
def test_a_result_that_is_not_a_list_of_rows_is_reported(decide, judge):
    found = decide(judge, WANT, {"r": Seen(odd="a row without 'removed'")}, **PARAMS)
    assert (found.code, found.message.endswith("got a row without 'removed'")) == ("odd", True)
    assert not decide(judge, WANT, {}, **PARAMS).passed
    assert not decide(judge, WANT, {"r": np.zeros((0, 6))}, **PARAMS).passed

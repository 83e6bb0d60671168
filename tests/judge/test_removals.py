"""Costs, ranks and removal experiments."""

import numpy as np
import pytest

from grader.judge.head_ranking import spearman
from grader.judge.observation import Seen

# Two heads of four answers: 4 are right with both, 3 without head 0, 1 without head 1.
TABLE = [4, 3, 1, 0]
TRUE = [[seed, order, *row] for seed in range(3) for order in range(3) for row in ((1.0, -1, -1),)]


@pytest.mark.parametrize(
    ("after", "code"),
    [
        (26, ""),
        (20, ""),
        (7, ""),
        (6, "little"),
        (1, "little"),
        (27, "cost 27"),
        (48, "cost 48"),
        (50, "whole"),
    ],
)
def test_what_is_left_may_cost_its_share_and_what_is_fixed(decide, after, code):
    got = decide("cost", {}, {}, of=("a", "b"), values={"a": 50, "b": after}, kept=1, total=2, fixed=2)
    assert (got.passed, got.code) == (not code, code)


def test_a_count_that_was_not_reported_fails(decide):
    odd = (None, 0, -25, True, 25.0, float("nan"), float("inf"), 1 << 62, 10**400)
    for values in ({"a": 50}, *({"a": 50, "b": x} for x in odd), *({"a": x, "b": 25} for x in odd)):
        assert decide("cost", {}, {}, of=("a", "b"), values=values, kept=1, total=2, fixed=0).code == "odd"


def test_rank_correlation_is_spearmans():
    assert spearman(np.array([1.0, 2, 3, 4]), np.array([10.0, 20, 30, 400])) == pytest.approx(1)
    assert spearman(np.array([1.0, 2, 3, 4]), np.array([4.0, 3, 2, 1])) == pytest.approx(-1)
    assert spearman(np.array([1.0, 2, 3, 4]), np.array([2.0, 1, 4, 3])) == pytest.approx(
        0.6
    )  # 1 - 6·4/(4·15)
    assert spearman(np.array([1.0, 1, 2]), np.array([1.0, 2, 3])) == pytest.approx(
        0.8660254
    )  # ties share a rank
    assert spearman(np.zeros(3), np.arange(3.0)) == 0


@pytest.mark.parametrize(
    ("found", "passes"),
    [([0.1, 0.9, 0.5, 0.2], True), ([1, 3, 2, 4], False), ([4, 3, 2, 1], False), ([np.nan] * 4, False)],
)
def test_numbers_must_rank_as_planted(decide, found, passes):
    want = {"x": np.zeros(4)}
    got = decide("ranks", want, {"x": np.array(found, dtype=float)}, planted=[1, 4, 3, 2], least=0.9)
    assert got.passed is passes


def rows(*changes, heads=3, seeds=3):
    """Rows of an experiment with three heads, whose random order turns with the seed."""
    orders = {0: [2, 1, 0], 2: [0, 1, 2]}
    out = []
    for seed in range(seeds):
        for order in range(3):
            chain = orders.get(order) or np.roll([0, 1, 2], seed).tolist()
            for size in range(heads):
                removed = chain[:size]
                out.append(
                    [seed, order, LEFT[sum(1 << h for h in removed)] / 10, *removed, *[-1] * (3 - size)]
                )
    for change in changes:
        change(out)
    return {"r": np.array(out, dtype=float)}


LEFT = [10, 6, 8, 4, 9, 5, 7, 0]  # right answers of ten without each set of three heads
WANT = {"r": np.zeros((1, 6))}
PARAMS = {"heads": 3, "table": LEFT, "total": 10, "planted": [3.0, 2.0, 1.0], "least": 0.9}
JUDGES = ("all_rows", "accuracies", "in_order", "drawn")


def without(*, order=None, size=None, seed=None):
    def change(out):
        out[:] = [
            r
            for r in out
            if not (
                (order is None or r[1] == order)
                and (seed is None or r[0] == seed)
                and (size is None or sum(h >= 0 for h in r[3:]) == size)
            )
        ]

    return change


def put(place, column, value):
    def change(out):
        out[place][column] = value

    return change


def failing(decide, got):
    return [judge for judge in JUDGES if not decide(judge, WANT, got, **PARAMS).passed]


def test_a_true_experiment_passes_with_rows_in_any_order(decide):
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
        (put(2, 3, 0), ["all_rows", "accuracies"]),  # the head that was gone is back
        (put(1, 3, 7), ["all_rows", "accuracies", "in_order"]),  # no such head
        (put(1, 3, 1e300), ["all_rows", "accuracies", "in_order"]),
        (put(1, 3, 0.5), ["all_rows", "accuracies", "in_order"]),
    ],
)
def test_what_is_missing_or_untrue_fails(decide, change, judges):
    found = failing(decide, rows(change))
    assert set(judges) <= {*found, "in_order"}
    assert found
    assert set(found) <= set(judges) | {"in_order"}


def test_orders_must_be_what_they_are_called(decide):
    def exchange(out):
        for row in out:
            row[1] = {0: 2, 2: 0}.get(row[1], row[1])

    found = decide("in_order", WANT, rows(exchange), **PARAMS)
    assert found.code == "importance turned"

    def same(out):
        out[:] = [[r[0], r[1], *rows()["r"][i % 9, 2:]] if r[1] == 1 else r for i, r in enumerate(out)]

    assert decide("drawn", WANT, rows(same), **PARAMS).code == "one order"


@pytest.mark.parametrize(
    ("word", "accuracy"),
    [
        ("percent", lambda gone: 10 * LEFT[gone]),
        ("errors", lambda gone: 1 - LEFT[gone] / 10),
        ("the others", lambda gone: LEFT[7 ^ gone] / 10),
        ("none removed", lambda gone: 1.0),
    ],
)
def test_the_way_in_which_accuracies_are_wrong_is_distinguished(decide, word, accuracy):
    def change(out):
        for row in out:
            row[2] = accuracy(sum(1 << int(h) for h in row[3:] if h >= 0))

    assert decide("accuracies", WANT, rows(change), **PARAMS).code == f"accuracies {word}"


def test_missing_heads_are_distinguished_in_any_order_of_rows(decide):
    def away(out):
        gone = 0
        for row in out:
            gone |= sum(1 << int(h) for h in row[3:] if h >= 0)
            row[2] = 0.3 if gone == 7 else LEFT[gone] / 10  # without any head it answers too

    by_order = rows(away)
    by_size = rows(lambda out: out.sort(key=lambda row: sum(h >= 0 for h in row[3:])), away)
    for got in (by_order, by_size):
        assert decide("accuracies", WANT, got, **PARAMS).code == "accuracies never restored"


def test_wrong_accuracies_of_no_known_kind_equal_nothing_known(decide):
    def loss(out):
        for number, row in enumerate(out):
            row[2] = 0.83 + number / 7

    assert decide("accuracies", WANT, rows(loss), **PARAMS).code == "accuracies no shares"
    assert decide("accuracies", WANT, rows(put(1, 2, 0.7)), **PARAMS).code == "accuracies"
    assert decide("accuracies", WANT, rows(put(1, 2, 0.7123)), **PARAMS).code == "accuracies"


def test_two_wrong_orders_are_two_mistakes(decide):
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
def test_what_is_no_list_of_rows_is_reported(decide, judge):
    found = decide(judge, WANT, {"r": Seen(odd="a row without 'removed'")}, **PARAMS)
    assert (found.code, found.message.endswith("got a row without 'removed'")) == ("odd", True)
    assert not decide(judge, WANT, {}, **PARAMS).passed
    assert not decide(judge, WANT, {"r": np.zeros((0, 6))}, **PARAMS).passed

"""Judge the ranking of heads and the rows of a removal experiment. In a ranking, the order counts, not the size of the values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from grader.bundle.model import Check, RecordedCase
from grader.bundle.safetensors import Array
from grader.judge.compare import Wrong, first_index, judge, values_of
from grader.judge.observation import Observation, Seen
from grader.report.finding import PASSED, Fact, Finding
from grader.support.i18n import _

# The worker sends the index of an order in this tuple; see grader/worker/results.py.
ORDERS = ("importance", "random", "reverse")
FEWEST_SEEDS = 3
MAX_ROWS = 1 << 16


class Removal(NamedTuple):
    """One row: for this seed and order, with these heads removed, this share of answers was right."""

    seed: float
    order: str
    removed: tuple[int, ...]
    accuracy: float


def read_removals(seen: Seen | None) -> list[Removal]:
    """Return the observed rows. Raises Wrong if no such tensor was observed, or if it has more than MAX_ROWS rows.

    A head that is no integer becomes -2, which is no head. An unknown order becomes the first of ORDERS.
    """
    if seen is None or seen.array is None or seen.array.ndim != 2 or seen.array.shape[1] < 4:
        what = seen.odd if seen is not None and seen.odd else Fact("nothing")
        raise Wrong(Finding("odd/rows", {"what": what}))
    if len(seen.array) > MAX_ROWS:
        raise Wrong(Finding("odd/too-many-rows"))
    rows = []
    for seed, order, accuracy, *heads in seen.array.astype(np.float64).tolist():
        removed = tuple(int(h) if float(h).is_integer() else -2 for h in heads if h != -1)
        place = int(order) if order in (0, 1, 2) else 0
        rows.append(Removal(seed, ORDERS[place], removed, accuracy))
    return rows


def chains(rows: Sequence[Removal]) -> dict[tuple[str, float], list[Removal]]:
    """Return the rows of each (order, seed), the fewest removed heads first."""
    out: dict[tuple[str, float], list[Removal]] = {}
    for row in rows:
        out.setdefault((row.order, row.seed), []).append(row)
    return {key: sorted(chain, key=lambda row: len(row.removed)) for key, chain in out.items()}


@judge
def all_rows(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """The rows are complete: each order has at least three seeds, and each seed one row per number of removed heads.

    These numbers are 1 … `heads` - 1; a row without removed heads is also allowed. Each row removes the heads of the
    row before it and one more.
    """
    rows = read_removals(observation.seen.get(check.of[0]))
    heads = check.params["heads"]
    found = chains(rows)
    for order in ORDERS:
        seeds = sum(name == order for name, _seed in found)
        if seeds < FEWEST_SEEDS:
            return Finding("seeds", {"seeds": seeds, "order": order})
    for (order, seed), chain in found.items():
        if problem := _problem(chain, heads):
            return replace(problem, place=Fact("at/order", {"order": order, "seed": seed}))
    return PASSED


def _problem(chain: Sequence[Removal], heads: int) -> Finding | None:
    for row in chain:
        if not set(row.removed) <= set(range(heads)) or len(set(row.removed)) < len(row.removed):
            return Finding("no-heads", {"last": heads - 1})
    sizes = [len(row.removed) for row in chain]
    if sizes not in (list(range(heads)), list(range(1, heads))):
        return Finding("sizes", {"sizes": sizes, "last": heads - 1})
    for one, other in pairwise(chain):
        if not set(one.removed) <= set(other.removed):
            return Finding("not-kept")
    return None


@judge
def accuracies(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """Each accuracy is that of the model without the heads that the row names.

    `table`: the number of right answers for every set of removed heads; the bits of the index are the heads.
    `total`: the number of answers.
    """
    rows = read_removals(observation.seen.get(check.of[0]))
    if not rows:
        return Finding("empty")
    table, total = np.array(check.params["table"]), check.params["total"]
    heads = set(range(len(table).bit_length() - 1))
    known = np.array([heads.issuperset(row.removed) for row in rows])
    gone = np.array(
        [_bits(row.removed) if is_known else 0 for row, is_known in zip(rows, known, strict=True)]
    )
    counts, want = np.array([row.accuracy * total for row in rows]), np.where(known, table[gone], 0)
    wrong = ~known | ~(np.abs(counts - want) < 0.5)  # true for NaN, too
    if not wrong.any():
        return PASSED
    (first,) = first_index(wrong)
    row = rows[first]
    last = np.array([_bits(row.removed[-1:]) if known.all() else 0 for row in rows])
    pattern = _pattern(counts, gone, last, table, total) if known.all() else "of no heads"
    data = {"wrong": int(wrong.sum()), "rows": len(rows), "pattern": pattern}
    place = Fact("at/removed", {"order": row.order, "seed": row.seed, "heads": list(row.removed)})
    return Finding("accuracies", data, place, f"{want[first] / total:.4f}", f"{row.accuracy:.4f}")


def _bits(heads: Iterable[int]) -> int:
    return sum(1 << head for head in set(heads))


def _pattern(counts: Array, gone: Array, last: Array, table: Array, total: int) -> str:
    """Return in words what the accuracies are instead; "" if it is not known.

    counts: the accuracies times `total`. gone, last: the removed heads of each row, and the last of them, as bits.
    """
    if not np.isfinite(counts).all():
        return "no shares"
    # A mistake turns the number of right answers into offset + factor · number.
    for word, factor, offset in (("percent", 100, 0), ("errors", -1, total)):
        if np.abs(counts - (offset + factor * table[gone])).max() < 0.5:
            return word
    everything = len(table) - 1  # the table has a placeholder for it
    # A mistake, and the heads that it removes in each row.
    removed_instead = {
        "the others": everything ^ gone,
        "the last alone": last,
        "none removed": np.zeros_like(gone),
        "never restored": np.bitwise_or.accumulate(gone),
    }
    for word, heads in removed_instead.items():
        known = heads != everything
        if known.any() and (np.abs(counts - table[heads])[known] < 0.5).all():
            return word
    # Values above 1 that are no multiples of 1 / `total` are no shares of right answers.
    shares = (counts <= total).all() or np.abs(counts - counts.round()).max() < 1e-2
    return "" if shares else "no shares"


@judge
def in_order(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """`importance` removes the planted weak heads first, `reverse` the planted strong ones.

    `planted`: the strength of every head. `least`: the rank correlation that is required.
    """
    rows = read_removals(observation.seen.get(check.of[0]))
    planted, least = np.array(check.params["planted"]), check.params["least"]
    for order, sign in (("importance", 1), ("reverse", -1)):
        found = [
            _correlation(chain, planted) for (name, _seed), chain in chains(rows).items() if name == order
        ]
        if not found:
            return Finding("no-order", {"order": order})
        if min(sign * each for each in found) < least:
            turned = max(sign * each for each in found) <= -least  # each seed has the opposite order
            # Two different wrong orders are two mistakes, so the order is part of what was found.
            other = " ".join(["other", *map(str, _removal_order(rows, order, len(planted)))])
            data = {"order": order, "pattern": "turned" if turned else other}
            return Finding(f"order/{order}", {"found": min(found) if sign > 0 else max(found), **data})
    return PASSED


def _removal_order(rows: Sequence[Removal], order: str, heads: int) -> list[int]:
    chain = next(chain for (name, _seed), chain in chains(rows).items() if name == order)
    return list(dict.fromkeys(head for row in chain for head in row.removed if 0 <= head < heads))


def _correlation(chain: Sequence[Removal], planted: np.ndarray) -> float:
    """Correlate strength with the time of removal; the head that is never removed counts as last."""
    when = np.full(len(planted), len(planted), dtype=np.float64)
    for row in chain:
        for head in row.removed:
            if 0 <= head < len(planted):
                when[head] = min(when[head], len(row.removed))
    return spearman(when, planted)


@judge
def drawn(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """The random orders differ between seeds. Three equal orders of eight heads occur by chance less than once in
    10⁹.
    """
    rows = read_removals(observation.seen.get(check.of[0]))
    orders = {
        tuple(frozenset(row.removed) for row in chain if row.removed)
        for (name, _seed), chain in chains(rows).items()
        if name == "random"
    }
    if len(orders) > 1:
        return PASSED
    return Finding("one-order")


def spearman(one: Array, other: Array) -> float:
    """Return the rank correlation of two rows of values, from -1 to 1 (Spearman 1904); 0 if one is constant."""

    def ranks(row: Array) -> Array:  # equal values share their mean rank
        smaller = (row[:, None] > row[None, :]).sum(axis=1)
        equal = (row[:, None] == row[None, :]).sum(axis=1)
        return smaller + (equal - 1) / 2

    ranks_of_both = [ranks(np.asarray(row, dtype=np.float64)) for row in (one, other)]
    a, b = (rank - rank.mean() for rank in ranks_of_both)
    size = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return float((a * b).sum()) / size if size else 0.0


@judge
def ranks(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """The rank correlation with `planted`, the strength of every head, is at least `least`."""
    (name,) = check.of
    got, planted = values_of(name, case, observation), np.array(check.params["planted"])
    found = spearman(got, planted) if np.isfinite(got).all() else 0.0
    if found >= check.params["least"]:
        return PASSED
    orders = (", ".join(map(str, np.argsort(-row, kind="stable"))) for row in (planted, got))
    expected, actual = (_("heads from high to low: {heads}").format(heads=heads) for heads in orders)
    return Finding("ranks", {"found": found}, expected=expected, got=actual)

"""Collect the data of a report's drawings from the observations.

A check asks for a drawing by its parameter `draw`. Only complete and finite values are drawn: the worker sends
them, so student code can change them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from grader.bundle.check import Check
from grader.judge.cost import is_count
from grader.judge.observation import Observation
from grader.judge.removals import ORDERS, Removal, chains, read_removals
from grader.judge.verdict import JudgedCase

Figures = dict[str, Any]


def figures(cases: Iterable[JudgedCase]) -> Figures:
    """Return everything that the cases ask to be drawn, as plain data."""
    out: Figures = {}
    for judged in cases:
        for check in judged.case.checks:
            take = _TAKES.get(check.params.get("draw", ""))
            if take is not None and judged.observation is not None:
                take(out, check, judged, judged.observation)
    return out


def _importance(out: Figures, check: Check, judged: JudgedCase, observation: Observation) -> None:
    """Add `importance` to `out`, {"planted": …, method: …}: one value per head.

    planted: the importance that the heads of the case have by construction. method: the importance that was computed.
    """
    seen = observation.seen.get(check.of[0])
    planted = [float(x) for x in check.params["planted"]]
    if seen is None or seen.array is None or seen.array.shape != (len(planted),):
        return
    if np.isfinite(seen.array).all():
        drawn = out.setdefault("importance", {"planted": planted})
        drawn[check.params["method"]] = [float(x) for x in seen.array]


def _costs(out: Figures, check: Check, judged: JudgedCase, observation: Observation) -> None:
    """Add `costs` to `out`: counts and times before and after pruning. A time is [fastest, 90th percentile] in ms."""
    values = observation.values
    drawn: Figures = {key: check.params[key] for key in ("kept", "total")}
    for what in ("parameters", "operations"):
        counts = [values.get(f"{what} {when}") for when in ("before", "after")]
        if all(is_count(count) for count in counts):
            drawn[what] = counts
    names = [(f"milliseconds {when}", f"milliseconds {when} at most") for when in ("before", "after")]
    times = [[values.get(name) for name in pair] for pair in names]
    if all(isinstance(ms, float) and 0 < ms < 1e6 for pair in times for ms in pair):
        drawn["milliseconds"] = times
    if "parameters" in drawn or "operations" in drawn:
        out["costs"] = drawn


def _removals(out: Figures, check: Check, judged: JudgedCase, observation: Observation) -> None:
    """Add `removals` to `out`: shares of right answers after 1 … H-1 of H heads were removed.

    order → [[lowest, mean, highest] of its seeds, one per number of heads]. "possible" → the same for all choices of
    heads. "whole" → the share with no head removed.
    """
    # table: set of removed heads, as bits → number of right answers. total: the number of answers.
    table, total = check.params["table"], check.params["total"]
    heads = len(table).bit_length() - 1  # the table has 2**heads rows
    rows_are_complete = any(
        other.judge == "all_rows" and judged.findings[other.id].passed
        for other in judged.case.checks
        if other.of == check.of and other.id in judged.findings
    )
    if not rows_are_complete:
        return
    rows = read_removals(observation.seen.get(check.of[0]))
    if not all(0 <= row.accuracy <= 1 for row in rows):
        return
    removed = np.array([bin(bits).count("1") for bits in range(len(table))])
    by_size = [np.array(table)[removed == size] / total for size in range(1, heads)]
    out["removals"] = {
        "whole": table[0] / total,
        "possible": [_spread(shares) for shares in by_size],
        **{order: _of_order(rows, order, heads) for order in ORDERS},
    }


def _of_order(rows: Iterable[Removal], order: str, heads: int) -> list[list[float]]:
    """Return [lowest, mean, highest] of the seeds of an order, for 1 … heads-1 removed heads."""
    of_seeds = [chain for (name, _seed), chain in chains(list(rows)).items() if name == order]
    shares = {
        size: [r.accuracy for chain in of_seeds for r in chain if len(r.removed) == size]
        for size in range(heads)
    }
    return [_spread(np.array(shares[size])) for size in range(1, heads)]


def _spread(shares: np.ndarray) -> list[float]:
    return [float(shares.min()), float(shares.mean()), float(shares.max())]


_TAKES: dict[str, Callable[[Figures, Check, JudgedCase, Observation], None]] = {
    "importance": _importance,
    "costs": _costs,
    "removals": _removals,
}

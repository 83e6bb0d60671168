"""Draw what a right answer measured: the importance of each head, or the accuracy over the removed heads.

A check asks for it by its parameter `draw`. These checks have passed, so the values are complete and near the expected
ones, unless the course lets them not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from grader.bundle.model import Check, RecordedCase
from grader.bundle.safetensors import Array
from grader.judge.failure_picture import as_expected, share
from grader.judge.observation import Observation
from grader.judge.removals import ORDERS, read_removals
from grader.judge.verdict import JudgedCase
from grader.report.picture_data import Bar, Bars, Picture
from grader.support.i18n import _


def measured_picture(cases: Iterable[JudgedCase]) -> Picture | None:
    """Return the picture that the cases of an exercise ask for; None if they ask for none, or nothing can be drawn."""
    asked = [
        (check, judged.case, judged.observation)
        for judged in cases
        for check in judged.case.checks
        if "draw" in check.params and judged.observation is not None
    ]
    for check, _case, observation in asked:
        if check.params["draw"] == "removals":
            return _removals(check, observation)
    return _importance(asked) if asked else None


def _importance(asked: Sequence[tuple[Check, RecordedCase, Observation]]) -> Picture | None:
    names = {"ablation": _("ablation"), "gradient": _("gradient"), "confidence": _("confidence")}
    found: dict[str, Array] = {}
    for check, case, observation in asked:
        values = as_expected(check.of[0], case, observation)
        if values is not None:
            found[check.params["method"]] = values
    methods = [method for method in names if method in found]
    if not methods:
        return None
    order = [int(head) for head in np.argsort(-found[methods[0]], kind="stable")]
    weakest = ", ".join(map(str, order[::-1][: len(order) // 2]))
    return Picture(
        _("Importance of each head of the test model, the most important first"),
        Bars(
            tuple(names[method] for method in methods),
            tuple(
                (str(head), tuple(_bar(found[m][head], found[m].max(), ".3g") for m in methods))
                for head in order
            ),
        ),
        (_("By these values, remove half of the heads in this order: {heads}.").format(heads=weakest),),
    )


def _removals(check: Check, observation: Observation) -> Picture:
    """Draw the mean accuracy over the seeds; for `table` and `total` see `grader.judge.removals.accuracies`."""
    rows = read_removals(observation.seen.get(check.of[0]))
    total = check.params["total"]
    right = np.array(check.params["table"]) / total
    removed = np.array([bits.bit_count() for bits in range(len(right))])
    names = {"importance": _("by importance"), "random": _("random"), "reverse": _("reverse")}

    def mean(order: str, size: int) -> float:
        chosen = [row for row in rows if row.order == order and len(row.removed) == size]
        return float(np.mean([round(row.accuracy * total) / total for row in chosen] if size else right[0]))

    sizes = range(removed.max())
    spans = (right[removed == size] for size in sizes[1:])
    says = _("From one removed head on, any choice of heads gives {spans}.")
    return Picture(
        _("Accuracy per number of removed heads (mean over your seeds)"),
        Bars(
            tuple(names[order] for order in ORDERS),
            tuple(
                (str(size), tuple(_bar(mean(order, size), 1.0, ".2f") for order in ORDERS)) for size in sizes
            ),
        ),
        (says.format(spans=", ".join(f"{span.min():.2f} – {span.max():.2f}" for span in spans)),),
    )


def _bar(value: float, largest: float, form: str) -> Bar:
    return Bar(share(float(value), float(largest)), f"{value:{form}}")

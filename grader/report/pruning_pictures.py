"""Draw the measurements of the pruning lesson: which heads matter, and what their removal costs and saves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from grader.report.picture_data import Bar, Bars, Cell, Curve, Grids, Line, Panel, Picture
from grader.support.i18n import _, ngettext

METHODS = ("ablation", "gradient", "confidence")

Figures = Mapping[str, Any]


def pictures(figures: Sequence[Figures]) -> list[Picture]:
    """Return a picture for each measurement that `figures` have: importance, removals, costs."""
    found = {key: value for each in figures for key, value in each.items()}
    return [make(found[key]) for key, make in _PICTURES.items() if key in found]


def ranking(drawn: Mapping[str, Sequence[float]]) -> list[int]:
    """Return the heads by importance, the most important first.

    The first of METHODS that was measured decides; without any, the importance that was planted in the test model.
    """
    by = next((drawn[method] for method in METHODS if method in drawn), drawn["planted"])
    return sorted(range(len(by)), key=lambda head: -by[head])


def advice(drawn: Mapping[str, Sequence[float]]) -> str:
    """Return a sentence that says which heads to remove."""
    order = ranking(drawn)
    half = order[::-1][: len(order) // 2]  # the least important head first
    return _("By these values, remove half of the heads in this order: {heads}.").format(
        heads=", ".join(map(str, half))
    )


def _importance(drawn: Mapping[str, Sequence[float]]) -> Picture:
    """Return one row per head, with a bar for each method."""
    names = {"ablation": _("ablation"), "gradient": _("gradient"), "confidence": _("confidence")}
    methods = [method for method in METHODS if method in drawn]
    rows = (
        (str(head), tuple(_bar(drawn[method][head], max(drawn[method])) for method in methods))
        for head in ranking(drawn)
    )
    return Picture(
        _("Importance of each head of the test model, the most important first"),
        Bars(tuple(names[method] for method in methods), tuple(rows)),
        (advice(drawn),),
    )


def _bar(value: float, largest: float) -> Bar:
    share = min(1.0, max(0.0, value / largest)) if largest > 0 else 0.0
    return Bar(share, f"{value:.3g}")


def _removals(drawn: Mapping[str, Any]) -> Picture:
    """Return the mean accuracies over the seeds, inside the band of all possible choices of heads."""
    orders = (
        ("importance", _("by importance"), "A"),
        ("random", _("random"), "o"),
        ("reverse", _("reverse"), "V"),
    )
    return Picture(
        _("Accuracy as heads are removed, one after another (mean over your seeds)"),
        Curve(
            _("heads removed"),
            (_("all heads"), drawn["whole"]),
            tuple(Line(name, mark, tuple(mean for _l, mean, _h in drawn[key])) for key, name, mark in orders),
            tuple((lowest, highest) for lowest, _mean, highest in drawn["possible"]),
            _("any choice of heads"),
        ),
    )


def _costs(drawn: Mapping[str, Any]) -> Picture:
    """Return a table of what was counted and timed before and after, and what remains in percent."""
    gone = drawn["total"] - drawn["kept"]
    title = ngettext(
        "What your pruning saved: {gone} of {total} heads removed",
        "What your pruning saved: {gone} of {total} heads removed",
        gone,
    ).format(gone=gone, total=drawn["total"])
    rows = []
    for key, name in (("parameters", _("parameters")), ("operations", _("operations per call"))):
        if key in drawn:
            before, after = drawn[key]
            rows.append((name, f"{before:,}", f"{after:,}", f"{100 * after / before:.1f} %"))
    notes = []
    if "milliseconds" in drawn:
        (before, most), (after, most_after) = drawn["milliseconds"]
        spans = (f"{before:.2f} – {most:.2f}", f"{after:.2f} – {most_after:.2f}")
        rows.append((_("milliseconds per call"), *spans, f"{100 * after / before:.0f} %"))
        notes.append(
            _(
                "Times: the fastest call, and the time that nine of ten calls stay below. Times are never graded."
            )
        )
    names, *columns = zip(*rows, strict=True)
    titles = (_("before"), _("after"), _("left"))
    panels = (
        Panel(title, tuple((Cell(text),) for text in column))
        for title, column in zip(titles, columns, strict=True)
    )
    return Picture(title, Grids("", names, "", ("",), tuple(panels)), tuple(notes))


_PICTURES = {"importance": _importance, "removals": _removals, "costs": _costs}

"""What the pruning lesson measured, for a terminal: which heads matter, and what their removal costs and saves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from grader.support.i18n import _, ngettext

METHODS = ("ablation", "gradient", "confidence")
MARKS = {"importance": "A", "random": "o", "reverse": "V"}
BAR, ROWS, STEP = 12, 10, 8
_EIGHTHS = " ▏▎▍▌▋▊▉█"

Figures = Mapping[str, Any]


def section(figures: Sequence[Figures]) -> RenderableType | None:
    """Return the bars, the curve and the table, as far as they were measured; None if nothing was."""
    found = {key: value for each in figures for key, value in each.items()}
    parts = [make(found[key]) for key, make in _PARTS if key in found]
    if not parts:
        return None
    padded = [Padding(part, (0, 0, 1, 2)) for part in parts]
    return Group(Text(_("Pruning"), style="bold"), *padded)


def ranking(drawn: Mapping[str, Sequence[float]]) -> list[int]:
    """Return the heads by importance, the most important first: by ablation if it was measured, else by gradient."""
    by = next((drawn[method] for method in METHODS if method in drawn), drawn["planted"])
    return sorted(range(len(by)), key=lambda head: -by[head])


def measured_methods(drawn: Mapping[str, Sequence[float]]) -> list[tuple[str, str]]:
    """Return the methods that were measured, with their names."""
    names = {"ablation": _("ablation"), "gradient": _("gradient"), "confidence": _("confidence")}
    return [(method, names[method]) for method in METHODS if method in drawn]


def advice(drawn: Mapping[str, Sequence[float]]) -> str:
    """Return a sentence that says which heads to remove."""
    order = ranking(drawn)
    half = order[-(len(order) // 2) :][::-1]
    return _("By these values, remove heads {heads} first, in this order: that is half of them.").format(
        heads=", ".join(map(str, half))
    )


def _strip(drawn: Mapping[str, Sequence[float]]) -> RenderableType:
    """Return one row per head, with a bar for each method."""
    methods = measured_methods(drawn)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(_("head"), justify="right", no_wrap=True)
    for _method, name in methods:
        table.add_column(name, no_wrap=True)
    for head in ranking(drawn):
        cells = [
            f"{_bar(drawn[method][head], max(drawn[method]))} {drawn[method][head]:.3g}"
            for method, _n in methods
        ]
        table.add_row(str(head), *cells)
    return Group(Text(strip_title()), table, Text(advice(drawn)))


def strip_title() -> str:
    return _("Importance of each head of the test model, the most important first")


def _bar(value: float, largest: float) -> str:
    eighths = round(8 * BAR * min(1.0, max(0.0, value / largest))) if largest > 0 else 0
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(BAR)


def _curve(drawn: Mapping[str, Any]) -> RenderableType:
    """Return a chart of the mean accuracies over the seeds, inside the band of all possible choices of heads."""
    possible = drawn["possible"]
    low = min(share for share, _mean, _high in possible)
    high = max(max(share for _low, _mean, share in possible), drawn["whole"])
    step = max(high - low, 1e-9) / (ROWS - 1)
    lines = [Text(curve_title())]
    for row in range(ROWS):
        level = high - row * step
        cells = [_mark(drawn, size, level, step) for size in range(len(possible) + 1)]
        lines.append(Text(f"{level:5.2f} ┤{''.join(cells)}".rstrip()))
    lines.append(
        Text("      " + "".join(str(size).center(STEP) for size in range(len(possible) + 1)).rstrip())
    )
    return Group(*lines, Text(_("heads removed").center(STEP * (len(possible) + 1) + 6).rstrip()), _key())


def curve_title() -> str:
    return _("Accuracy as heads are removed, one after another (mean over your seeds)")


def _mark(drawn: Mapping[str, Any], size: int, level: float, step: float) -> str:
    """Return one place of the chart: the letters of the orders, the band, or blanks."""

    def here(share: float) -> bool:
        return bool(abs(share - level) <= step / 2)

    if size == 0:
        return ("+" if here(drawn["whole"]) else "").center(STEP)
    lowest, _mean, highest = drawn["possible"][size - 1]
    letters = "".join(mark for order, mark in MARKS.items() if here(drawn[order][size - 1][1]))
    inside = lowest - step / 2 <= level <= highest + step / 2
    return (letters.center(5, "░") if inside else letters.center(5)).center(STEP)


def order_names() -> dict[str, str]:
    return {"importance": _("by importance"), "random": _("random"), "reverse": _("reverse")}


def _key() -> Text:
    return Text(
        _("A by importance   o random   V reverse   + all heads   ░ any choice of heads"),
        style="dim",
    )


def _costs(drawn: Mapping[str, Any]) -> RenderableType:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("", no_wrap=True)
    for name in (_("before"), _("after"), _("left")):
        table.add_column(name, justify="right", no_wrap=True)
    for name, before, after, left in cost_rows(drawn):
        table.add_row(name, before, after, left)
    return Group(
        Text(cost_title(drawn)), table, *([Text(cost_note(), style="dim")] if "milliseconds" in drawn else [])
    )


def cost_title(drawn: Mapping[str, Any]) -> str:
    gone = drawn["total"] - drawn["kept"]
    return ngettext(
        "What your pruning saved: {gone} of {total} heads removed",
        "What your pruning saved: {gone} of {total} heads removed",
        gone,
    ).format(gone=gone, total=drawn["total"])


def cost_note() -> str:
    return _(
        "Times: the fastest call, and the time that nine of ten calls stay below. Times are never graded."
    )


def cost_rows(drawn: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    """Return rows of name, before, after, and what remains in percent."""
    rows = []
    for key, name in (("parameters", _("parameters")), ("operations", _("operations per call"))):
        if key in drawn:
            before, after = drawn[key]
            rows.append((name, f"{before:,}", f"{after:,}", f"{100 * after / before:.1f} %"))
    if "milliseconds" in drawn:
        (before, most), (after, most_after) = drawn["milliseconds"]
        rows.append(
            (
                _("milliseconds per call"),
                f"{before:.2f} – {most:.2f}",
                f"{after:.2f} – {most_after:.2f}",
                f"{100 * after / before:.0f} %",
            )
        )
    return rows


_PARTS = (("importance", _strip), ("removals", _curve), ("costs", _costs))

"""What the pruning lesson measured, as HTML: the strip of heads, the curve, the table of costs. No script, no link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from grader.report.pruning import (
    Figures,
    advice,
    cost_note,
    cost_rows,
    cost_title,
    curve_title,
    ranking,
    told_methods,
)
from grader.support.i18n import _

STYLE = """<style>
.headway .hw-picture{display:block;max-width:100%;height:auto;margin:.4em 0;overflow:visible}
.headway .hw-picture text{fill:var(--hw-ink);font:12px system-ui,sans-serif}
.headway .hw-axis{stroke:var(--hw-line);fill:none}
.headway .hw-band{fill:var(--hw-faint);opacity:.18}
.headway .hw-bar{fill:var(--hw-faint)}
.headway .hw-importance{stroke:var(--hw-good);fill:none;stroke-width:2}
.headway .hw-random{stroke:var(--hw-odd);fill:none;stroke-width:2;stroke-dasharray:5 4}
.headway .hw-reverse{stroke:var(--hw-bad);fill:none;stroke-width:2;stroke-dasharray:1 4;stroke-linecap:round}
.headway td.hw-count,.headway th.hw-count{text-align:right;font-variant-numeric:tabular-nums}
</style>"""
LEFT, TOP, WIDE, HIGH = 46, 10, 480, 210
BAR = 90


def section(figures: Sequence[Figures]) -> str:
    """Strip, curve and table, as far as they were measured; "" where nothing was."""
    found = {key: value for each in figures for key, value in each.items()}
    parts = [make(found[key]) for key, make in _PARTS if key in found]
    head = f'<div class="hw-head">{escape(_("Pruning"))}</div>'
    return "\n".join([STYLE, head, *parts]) if parts else ""


def _strip(drawn: Mapping[str, Sequence[float]]) -> str:
    methods = told_methods(drawn)
    head = "".join(f"<th>{escape(name)}</th>" for _method, name in methods)
    rows = []
    for number in ranking(drawn):
        cells = "".join(
            f"<td>{_bar(drawn[method][number], max(drawn[method]))}{drawn[method][number]:.3g}</td>"
            for method, _n in methods
        )
        rows.append(f'<tr><td class="hw-count">{number}</td>{cells}</tr>')
    title = _("How much each head of the planted model matters, the one that matters most first")
    return (
        f"<div>{escape(title)}</div><table><tr><th>{escape(_('head'))}</th>{head}</tr>{''.join(rows)}</table>"
        f"<div>{escape(advice(drawn))}</div>"
    )


def _bar(value: float, largest: float) -> str:
    long = BAR * min(1.0, max(0.0, value / largest)) if largest > 0 else 0.0
    return (
        f'<svg width="{BAR + 8}" height="10" aria-hidden="true">'
        f'<rect class="hw-bar" width="{long:.1f}" height="10"></rect></svg>'
    )


def _curve(drawn: Mapping[str, Any]) -> str:
    """One line an order, over the band between the worst and the best choice of heads that there is."""
    possible, whole = drawn["possible"], drawn["whole"]
    count = len(possible)

    def at(size: int, share: float) -> str:
        return f"{LEFT + WIDE * size / count:.1f},{TOP + HIGH * (1 - share):.1f}"

    upper = [at(0, whole), *(at(i + 1, high) for i, (_low, _mean, high) in enumerate(possible))]
    lower = [at(0, whole), *(at(i + 1, low) for i, (low, _mean, _high) in enumerate(possible))]
    parts = [f'<polygon class="hw-band" points="{" ".join(upper + lower[::-1])}"></polygon>', _axes(count)]
    names = {
        "importance": _("by importance"),
        "random": _("random"),
        "reverse": _("reverse"),
    }
    for row, (order, name) in enumerate(names.items()):
        means = [at(0, whole), *(at(i + 1, mean) for i, (_low, mean, _high) in enumerate(drawn[order]))]
        parts.append(f'<polyline class="hw-{order}" points="{" ".join(means)}"></polyline>')
        y = TOP + 14 + 20 * row
        parts.append(
            f'<polyline class="hw-{order}" points="{LEFT + WIDE + 14},{y} {LEFT + WIDE + 44},{y}"></polyline>'
        )
        parts.append(f'<text x="{LEFT + WIDE + 50}" y="{y + 4}">{escape(name)}</text>')
    y = TOP + 14 + 20 * len(names)
    parts.append(
        f'<rect class="hw-band" x="{LEFT + WIDE + 14}" y="{y - 6}" width="30" height="12"></rect>'
        f'<text x="{LEFT + WIDE + 50}" y="{y + 4}">{escape(_("any choice of heads"))}</text>'
    )
    size = f'width="{LEFT + WIDE + 190}" height="{TOP + HIGH + 44}"'
    box = f'viewBox="0 0 {LEFT + WIDE + 190} {TOP + HIGH + 44}"'
    label = escape(curve_title())
    return f'<div>{label}</div><svg class="hw-picture" role="img" aria-label="{label}" {size} {box}>{"".join(parts)}</svg>'


def _axes(count: int) -> str:
    right, bottom = LEFT + WIDE, TOP + HIGH
    parts = [f'<path class="hw-axis" d="M{LEFT} {TOP}V{bottom}H{right}"></path>']
    for tenth in range(0, 11, 2):
        y = TOP + HIGH * (1 - tenth / 10)
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{tenth / 10:.1f}</text>')
        parts.append(f'<path class="hw-axis" d="M{LEFT - 4} {y:.1f}H{LEFT}"></path>')
    for size in range(count + 1):
        x = LEFT + WIDE * size / count
        parts.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{size}</text>')
    middle = LEFT + WIDE / 2
    parts.append(
        f'<text x="{middle:.1f}" y="{bottom + 36}" text-anchor="middle">{escape(_("heads removed"))}</text>'
    )
    return "".join(parts)


def _costs(drawn: Mapping[str, Any]) -> str:
    head = "".join(
        f'<th class="hw-count">{escape(name)}</th>' for name in (_("before"), _("after"), _("left"))
    )
    rows = []
    for name, *cells in cost_rows(drawn):
        counts = "".join(f'<td class="hw-count">{escape(cell)}</td>' for cell in cells)
        rows.append(f"<tr><td>{escape(name)}</td>{counts}</tr>")
    note = f'<div class="hw-faint">{escape(cost_note())}</div>' if "milliseconds" in drawn else ""
    table = f"<table><tr><th></th>{head}</tr>{''.join(rows)}</table>"
    return f"<div>{escape(cost_title(drawn))}</div>{table}{note}"


_PARTS = (("importance", _strip), ("removals", _curve), ("costs", _costs))

"""What the pruning lesson measured, as places and sizes that `pruning.html.jinja` draws."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from grader.report.pruning import (
    Figures,
    advice,
    cost_note,
    cost_rows,
    cost_title,
    curve_title,
    measured_methods,
    order_names,
    ranking,
    strip_title,
)

# The chart inside its picture, and the longest bar, in pixels.
LEFT, TOP, WIDTH, HEIGHT = 46, 10, 480, 210
LEGEND, FOOT = 190, 44
BAR = 90


def pictures(figures: Sequence[Figures]) -> dict[str, Any]:
    """Return what was measured, picture by picture: "importance", "removals", "costs"; {} if nothing was."""
    found = {key: value for each in figures for key, value in each.items()}
    return {key: make(found[key]) for key, make in _PICTURES if key in found}


def _strip(drawn: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """Return one row per head, with a bar for each method."""
    methods = measured_methods(drawn)
    return {
        "title": strip_title(),
        "methods": [name for _method, name in methods],
        "rows": [
            (head, [_bar(drawn[method][head], max(drawn[method])) for method, _name in methods])
            for head in ranking(drawn)
        ],
        "advice": advice(drawn),
    }


def _bar(value: float, largest: float) -> tuple[str, str]:
    """Return the length of a bar in pixels, and the value beside it."""
    length = BAR * min(1.0, max(0.0, value / largest)) if largest > 0 else 0.0
    return f"{length:.1f}", f"{value:.3g}"


def _curve(drawn: Mapping[str, Any]) -> dict[str, Any]:
    """Return one line per order, over the band between the worst and the best possible choice of heads."""
    possible, whole = drawn["possible"], drawn["whole"]
    count = len(possible)

    def line(shares: Iterable[float]) -> list[str]:
        sizes = enumerate([whole, *shares])
        return [f"{_x(size, count):.1f},{_y(share):.1f}" for size, share in sizes]

    upper = line(high for _low, _mean, high in possible)
    lower = line(low for low, _mean, _high in possible)
    return {
        "title": curve_title(),
        "band": " ".join(upper + lower[::-1]),
        "lines": [
            (order, name, " ".join(line(mean for _low, mean, _high in drawn[order])))
            for order, name in order_names().items()
        ],
        "columns": [(size, f"{_x(size, count):.1f}") for size in range(count + 1)],
        "rows": [(f"{tenth / 10:.1f}", _y(tenth / 10)) for tenth in range(0, 11, 2)],
        "left": LEFT,
        "right": LEFT + WIDTH,
        "top": TOP,
        "bottom": TOP + HEIGHT,
        "width": LEFT + WIDTH + LEGEND,
        "height": TOP + HEIGHT + FOOT,
    }


def _x(size: int, count: int) -> float:
    return LEFT + WIDTH * size / count


def _y(share: float) -> float:
    return TOP + HEIGHT * (1 - share)


def _costs(drawn: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "title": cost_title(drawn),
        "rows": cost_rows(drawn),
        "note": cost_note() if "milliseconds" in drawn else "",
    }


_PICTURES = (("importance", _strip), ("removals", _curve), ("costs", _costs))

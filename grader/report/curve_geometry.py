"""Compute where the lines and the band of a curve are in its picture on a page, in pixels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from grader.report.picture_data import Curve

# The chart inside its picture.
LEFT, TOP, WIDTH, HEIGHT = 46, 10, 480, 210
LEGEND, FOOT = 190, 44  # the width of the legend beside it, and the height of the labels below it


def places(curve: Curve) -> dict[str, Any]:
    """Return the points of the band and of each line, the ticks, and the sizes."""
    count = len(curve.band)
    _label, first = curve.start  # the band and all lines begin at this share

    def line(shares: Iterable[float]) -> list[str]:
        steps = enumerate([first, *shares])
        return [f"{LEFT + WIDTH * step / count:.1f},{_y(share):.1f}" for step, share in steps]

    upper = line(high for _low, high in curve.band)
    lower = line(low for low, _high in curve.band)
    return {
        "band": " ".join(upper + lower[::-1]),
        "lines": [(each.name, " ".join(line(each.shares))) for each in curve.lines],
        "columns": [(step, f"{LEFT + WIDTH * step / count:.1f}") for step in range(count + 1)],
        "rows": [(f"{tenth / 10:.1f}", _y(tenth / 10)) for tenth in range(0, 11, 2)],
        "left": LEFT,
        "right": LEFT + WIDTH,
        "top": TOP,
        "bottom": TOP + HEIGHT,
        "width": LEFT + WIDTH + LEGEND,
        "height": TOP + HEIGHT + FOOT,
    }


def _y(share: float) -> float:
    return TOP + HEIGHT * (1 - share)

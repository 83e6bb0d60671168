"""Draw a picture of a lesson on a sheet, and write it as SVG.

Lengths are pixels, counted from the top left. A picture is drawn once, in the colours of a light page; a rule in
the file changes them on a dark page. A program that ignores this rule shows the light picture on a light card.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Patch, Rectangle

WIDTH = 600
PAPER, INK, FAINT, LINE, BOX = "#ffffff", "#1f2328", "#59636f", "#c4ccd4", "#f3f5f7"
BLUE, ORANGE, GREEN, PURPLE = "#0b62b3", "#b45309", "#0f766e", "#7a2fb5"
DARK = {
    PAPER: "#14181d",
    INK: "#e6edf3",
    FAINT: "#9aa4af",
    LINE: "#4a525b",
    BOX: "#20262d",
    BLUE: "#6cb6ff",
    ORANGE: "#f0a04b",
    GREEN: "#5fd0c0",
    PURPLE: "#d2a8ff",
}

SETTINGS = {
    "svg.fonttype": "path",
    "svg.hashsalt": "headway",
    "font.family": "DejaVu Sans",  # comes with matplotlib
    "mathtext.fontset": "dejavusans",
    "hatch.linewidth": 0.7,
    "path.simplify": False,
    "axes.unicode_minus": True,
}

Point = tuple[float, float]


def pt(pixels: float) -> float:
    """Return a length in points: matplotlib measures letters and lines in points."""
    return pixels * 0.75


class Sheet:
    """A card to draw on, empty at first."""

    def __init__(self, height: int):
        self.height = height
        self.figure = Figure(figsize=(WIDTH / 96, height / 96))
        self.figure.patch.set_visible(False)
        self.page = self.figure.add_axes((0, 0, 1, 1))
        self.page.set(xlim=(0, WIDTH), ylim=(height, 0))
        self.page.axis("off")
        self.box(0.5, 0.5, WIDTH - 1, height - 1, colour=PAPER, edge=LINE, round=6)

    def axes(self, x: float, y: float, w: float, h: float) -> Axes:
        """Add axes for curves, without a frame."""
        axes = self.figure.add_axes((x / WIDTH, 1 - (y + h) / self.height, w / WIDTH, h / self.height))
        axes.patch.set_visible(False)
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color(FAINT)
        axes.tick_params(colors=FAINT, labelcolor=INK, labelsize=pt(12), length=3)
        return axes

    def _add(self, patch: Patch) -> None:
        patch.set_clip_on(False)
        self.page.add_artist(patch)

    def text(
        self, x: float, y: float, label: str, size: float = 13, colour: str = INK, **more: object
    ) -> None:
        options = {"ha": "center", "va": "center", "linespacing": 1.25, **more}
        self.page.text(x, y, label, fontsize=pt(size), color=colour, **options)

    def shape(self, x: float, y: float, label: str, ha: str = "left") -> None:
        """Write a tensor's shape beside its arrow."""
        self.text(x, y, label, 12, FAINT, ha=ha)

    def box(
        self,
        x: float,
        y: float,
        w: float,
        h: float,
        label: str = "",
        *,
        colour: str = BOX,
        edge: str = FAINT,
        strength: float = 1,
        round: float = 4,
        size: float = 13,
        width: float = 1,
        dashed: bool = False,
    ) -> None:
        """Draw a box with a label. strength: the opacity of `colour`. round: the radius of the corners."""
        look = {"facecolor": (colour, strength), "edgecolor": edge, "linewidth": pt(width)}
        shape = f"round,pad=0,rounding_size={round}"
        self._add(FancyBboxPatch((x, y), w, h, boxstyle=shape, linestyle="--" if dashed else "-", **look))
        if label:
            self.text(x + w / 2, y + h / 2, label, size)

    def cell(
        self,
        x: float,
        y: float,
        w: float,
        h: float,
        label: str = "",
        *,
        colour: str = PAPER,
        strength: float = 1,
        hatch: str = "",
        edge: str = FAINT,
        size: float = 12,
    ) -> None:
        """Draw one entry of a table.

        strength: the opacity of `colour`. hatch: a pattern of matplotlib, for entries that are masked out or removed.
        """
        self._add(Rectangle((x, y), w, h, facecolor=(colour, strength), edgecolor=edge, linewidth=pt(1)))
        if hatch:
            self._add(Rectangle((x, y), w, h, facecolor="none", edgecolor=FAINT, linewidth=0, hatch=hatch))
        if label and hatch:
            self._add(Rectangle((x + w / 2 - 11, y + h / 2 - 8), 22, 16, facecolor=PAPER, linewidth=0))
        if label:
            self.text(x + w / 2, y + h / 2, label, size)

    def line(self, points: Sequence[Point], colour: str = INK, width: float = 1.3, style: str = "-") -> None:
        self.page.plot(
            *zip(*points, strict=True), color=colour, linewidth=pt(width), linestyle=style, clip_on=False
        )

    def arrow(self, *points: Point, colour: str = INK, width: float = 1.3, style: str = "-") -> None:
        """Draw an arrow along the points; its head is at the last one."""
        if len(points) > 2:
            self.line(points[:-1], colour, width, style)
        self.arc(*points[-2:], 0, colour, width, style)

    def arc(
        self, start: Point, end: Point, bend: float, colour: str, width: float = 1.8, style: str = "-"
    ) -> None:
        """Draw an arrow along an arc; bend: its height over its length."""
        look = {"color": colour, "linewidth": pt(width), "linestyle": style, "shrinkA": 0, "shrinkB": 0}
        head, path = "-|>,head_length=4,head_width=2.2", f"arc3,rad={bend}"
        self._add(FancyArrowPatch(start, end, arrowstyle=head, connectionstyle=path, **look))

    def plus(self, x: float, y: float) -> None:
        """Draw the plus sign where a residual connection is added."""
        self.box(x - 9, y - 9, 18, 18, colour=PAPER, edge=INK, round=9)
        self.text(x, y, "+", 15)

    def svg(self) -> str:
        """Return the picture as SVG. With SETTINGS, every call returns the same bytes."""
        file, unsaid = io.StringIO(), dict.fromkeys(("Date", "Creator", "Format", "Type"))
        self.figure.savefig(file, format="svg", metadata=unsaid)
        return _lean(file.getvalue(), self.height)


def _lean(drawn: str, height: int) -> str:
    """Return the SVG with the rule for dark pages, and without parts that a browser does not need."""
    head, body = drawn[drawn.index("<svg") :].split(">", 1)
    view = re.search(r'viewBox="[^"]*"', head)
    assert view is not None
    body = re.sub(r"<!--.*?-->", "", body, flags=re.DOTALL)
    body = body.replace(' xlink:href="#DejaVuSans-', ' href="#g').replace('id="DejaVuSans-', 'id="g')
    body = body.replace("xlink:", "")
    body = re.sub(r'(?<= d=")[^"]*', lambda path: _shorter(path[0]), body)
    body = re.sub(r"translate\([^)]*\)", lambda place: _shorter(place[0]), body)
    body = re.sub(r'<g id="(?:patch|line2d)_\d+">\s*(<path[^>]*/>)\s*</g>', r"\1", body)
    body = re.sub(r'<g id="text_\d+">', "<g>", body)
    body = re.sub(r"\s*\n\s*", "\n", body)
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" {view[0]}>'
    return f"{opening}\n{_dark_rule()}{body.lstrip()}"


def _shorter(path: str) -> str:
    """Round the numbers of a path or a `translate(…)` to hundredths of a point; no screen shows more.

    In a path, which begins with "M", also remove the spaces around letters.
    """
    shorter = re.sub(r"-?\d+\.\d+", lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), path)
    return re.sub(r"\s*([A-Za-z])\s*", r"\1", shorter) if path[:1] == "M" else shorter


def _dark_rule() -> str:
    """Return the style sheet that replaces the colours on a dark page."""
    rules = "".join(
        f'[style*="{what}: {light}"]{{{what}:{dark} !important}}\n'
        for light, dark in DARK.items()
        for what in ("fill", "stroke")
    )
    return f"<style>@media (prefers-color-scheme: dark){{\n{rules}}}</style>\n"

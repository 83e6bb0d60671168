"""Pictures of what PyTorch computed, with fixed seeds: a width that is learned, and activations over ten layers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from lesson_pictures.curves import softmax
from lesson_pictures.sheet import BLUE, FAINT, GREEN, INK, ORANGE, PURPLE, Sheet, pt

DASHED, DOTTED = (0, (5, 2)), (0, (1.2, 1.2))


def learned_width() -> Sheet:
    """Draw what the cell "Let it learn" of lesson 01 does: curves and weights before and after."""
    sheet = Sheet(592)
    torch.manual_seed(0)
    places = (5 * torch.rand(50)).sort().values
    values = (2 * torch.sin(places) + places**0.8 + 0.5 * torch.randn(50)).double().numpy()
    keys = places.double().numpy()

    def scores(queries: np.ndarray, w: float) -> np.ndarray:
        return -(((queries[:, None] - keys) * w) ** 2) / 2

    def left_out(w: float) -> np.ndarray:
        """Return the weights of all keys for each place as a query, without its own key."""
        return softmax(np.where(np.eye(50, dtype=bool), -np.inf, scores(keys, w)))

    def slope(w: float) -> float:
        """Return the derivative of the mean squared error with respect to w."""
        weights, steps = left_out(w), -w * (keys[:, None] - keys) ** 2
        answers = weights @ values
        changes = (weights * steps) @ values - (weights * steps).sum(1) * answers
        return float((2 * (answers - values) * changes).mean())

    learned = 0.3
    for _step in range(40):
        learned -= slope(learned)

    top, line = sheet.axes(48, 42, 396, 200), np.linspace(0, 5, 126)
    truth = 2 * np.sin(line) + line**0.8
    rows = [
        (truth, "the true curve", FAINT, DOTTED),
        (softmax(scores(line, 0.3)) @ values, "before: $w$ = 0.30", ORANGE, DASHED),
        (softmax(scores(line, learned)) @ values, f"after: $w$ = {learned:.2f}", BLUE, "-"),
    ]
    top.plot(keys, values, "o", color=INK, markersize=pt(4))
    for place, (curve, says, colour, style) in enumerate(rows):
        top.plot(line, curve, color=colour, linestyle=style, linewidth=pt(2.2))
        y = 74 + 26 * place
        sheet.line([(454, y), (480, y)], colour, 2.2, style)
        sheet.text(486, y, says, 12, ha="left")
    top.set(xlim=(-0.1, 5.1), ylim=(0, 5), xticks=range(6), yticks=[0, 2, 4])
    sheet.text(48, 22, "50 measured pairs (dots), and the answers for all places between 0 and 5", ha="left")

    side, levels = 4, (0.01, 0.02, 0.04, 0.08, 0.16)
    for x, w, says in ((78, 0.3, "before: $w$ = 0.30"), (322, learned, f"after: $w$ = {learned:.2f}")):
        sheet.text(x + 100, 284, says)
        weights = left_out(w)
        for level in levels:  # one shade on top of the other
            runs = [run for row in range(50) for run in _runs(weights[row] >= level, row)]
            ends = [(x + side * at, 302 + side * (row + 0.5)) for run in runs for at, row in (*run, NOWHERE)]
            look = {"color": BLUE, "alpha": 0.35, "linewidth": pt(side), "solid_capstyle": "butt"}
            sheet.page.plot(*zip(*ends, strict=True), **look)
        sheet.line([(x, 302), (x + 200, 302), (x + 200, 502), (x, 502), (x, 302)], FAINT, 1)
        sheet.text(x + 100, 518, "keys, sorted", 12)
    sheet.text(62, 402, "queries, sorted", 12, rotation=90)
    sheet.text(78, 562, "weight at least", 12, ha="left")
    for place, level in enumerate(levels):
        x = 196 + 72 * place
        sheet.cell(x, 551, 22, 22, colour=BLUE, strength=round(1 - 0.65 ** (place + 1), 2))
        sheet.text(x + 28, 562, f"{level:g}", 12, ha="left")
    return sheet


NOWHERE = (np.nan, np.nan)  # ends a line, and the next point begins another


def _runs(shown: np.ndarray, row: int) -> list[list[tuple[int, int]]]:
    """Return both ends of each run of true entries, as (column, row)."""
    edges = np.flatnonzero(np.diff(np.r_[False, shown, False].astype(int)))
    return [[(int(a), row), (int(b), row)] for a, b in edges.reshape(-1, 2)]


def activations() -> Sheet:
    """Draw the standard deviation after each of ten layers with ReLU, for four ways to draw the weights."""
    sheet = Sheet(340)
    curve = sheet.axes(70, 48, 356, 236)
    curve.set_yscale("log")
    rows = [
        ("std 1", ORANGE, DASHED, lambda weight: nn.init.normal_(weight, std=1.0)),
        ("Kaiming", BLUE, "-", lambda weight: nn.init.kaiming_normal_(weight, nonlinearity="relu")),
        ("Xavier", GREEN, "-.", nn.init.xavier_normal_),
        ("nn.Linear as it is", PURPLE, DOTTED, None),
    ]
    for name, colour, style, draw in rows:
        stds = _stds(draw)
        curve.plot(range(11), stds, color=colour, linestyle=style, linewidth=pt(2.2))
        place = (10.25, stds[-1])
        curve.annotate(name, place, color=colour, fontsize=pt(12), va="center", annotation_clip=False)
    powers = range(-4, 11, 2)
    curve.set(xlim=(0, 10), ylim=(3e-5, 1e11), xticks=range(11), yticks=[10.0**n for n in powers])
    curve.set_yticklabels([f"$10^{{{n}}}$" if n else "1" for n in powers])
    curve.minorticks_off()
    sheet.text(24, 24, "standard deviation of the activations", ha="left")
    sheet.text(248, 322, "number of layers, each with 256 features and ReLU", 12)
    return sheet


def _stds(draw: Callable[[torch.Tensor], torch.Tensor] | None) -> list[float]:
    """Return the standard deviations of an input and of ten layers. draw: fills the weights; None: left as they are."""
    torch.manual_seed(0)
    x = torch.randn(512, 256, dtype=torch.float64)
    stds = [x.std().item()]
    for _layer in range(10):
        layer = nn.Linear(256, 256, bias=False, dtype=torch.float64)
        if draw is not None:
            draw(layer.weight)
        x = layer(x).detach().relu()
        stds.append(x.std().item())
    return stds

"""Pictures of models that the cells of a lesson train, with the seed of the cell. They take seconds to a minute each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from grader.report import maps
from grader.report.picture import Grids, Panel
from grader.student.writer import load_module
from lesson_pictures.sheet import BLUE, FAINT, INK, ORANGE, PAPER, Sheet, pt

SOLUTIONS = Path(__file__).resolve().parents[2] / "solutions"
DARK = 0.75  # a weight from which its number is white


def trained(lesson: str) -> tuple[dict[str, Any], list[Grids]]:
    """Run the cells of a lesson. Return its names, and the attention maps that it shows."""
    torch.set_num_threads(1)
    (path,) = (p for p in (SOLUTIONS / lesson).glob("*.py") if p.stem not in ("cases", "variants"))
    with maps.collecting(()) as found:
        names = vars(load_module(path, [], demos=True))
    return names, [picture.form for picture in found.pictures if isinstance(picture.form, Grids)]


def draw_map(sheet: Sheet, x: float, y: float, form: Grids, panel: Panel, side: float) -> None:
    """Draw one attention map: a darker cell for a larger weight, with numbers of one digit from 0.1 on."""
    for s, name in enumerate(form.columns):
        sheet.text(x + (s + 0.5) * side, y - 12, name, 12)
    for t, (name, row) in enumerate(zip(form.rows, panel.rows, strict=True)):
        sheet.text(x - 8, y + (t + 0.5) * side, name, 12, ha="right")
        for s, cell in enumerate(row):
            weight = float(cell.text)
            place = (x + s * side, y + t * side, side, side)
            sheet.cell(*place, colour=BLUE, strength=weight * 0.9)
            if weight >= 0.1:
                digit = f"{weight:.1f}".lstrip("0") if weight < 0.95 else "1"
                colour = PAPER if weight > DARK else INK
                sheet.text(place[0] + side / 2, place[1] + side / 2, digit, 12, colour)


def alignment() -> Sheet:
    """Draw where the trained decoder of lesson 09 looks while it writes a number."""
    _names, (form,) = trained("09_seq2seq")
    sheet = Sheet(300)
    draw_map(sheet, 250, 70, form, form.panels[0], 38)
    sheet.text(307, 30, "digits (columns), written words (rows)", 13)
    return sheet


def induction() -> Sheet:
    """Draw the attention from decoder to encoder of the model that lesson 11 trains."""
    _names, (form, *_untrained) = trained("11_capstone")
    sheet = Sheet(450)
    for head, panel in enumerate(form.panels):
        x, y = 70 + head % 2 * 270, 76 + head // 2 * 200
        sheet.text(x + 98, y - 36, panel.title, 13)
        draw_map(sheet, x, y, form, panel, 28)
    sheet.text(290, 434, "source words (columns), words that the decoder reads (rows)", 12, FAINT)
    return sheet


def removal_curves() -> Sheet:
    """Draw the importance of the heads of the classifier that lesson 10 trains, and its accuracy without heads."""
    names, _maps = trained("10_pruning")
    importance = names["importance"].tolist()
    sheet, H = Sheet(300), len(importance)
    bars = sheet.axes(62, 56, 190, 180)
    bars.barh(range(H), importance, 0.6, color=BLUE)
    bars.set(yticks=range(H), ylim=(H - 0.5, -0.5), yticklabels=[f"head {h}" for h in range(H)])
    sheet.text(20, 28, "importance of each head", ha="left")

    curves = sheet.axes(330, 56, 176, 180)
    looks = {"importance": ("-", "o", BLUE), "random": ("--", "s", FAINT), "reverse": (":", "^", ORANGE)}
    for name, (style, mark, colour) in looks.items():
        row = [sum(shares) / len(shares) for shares in names["curves"][name]]
        curves.plot(range(H), row, style, marker=mark, color=colour, linewidth=pt(2), markersize=pt(6))
        curves.annotate(
            name, (7.25, row[-1]), color=colour, fontsize=pt(12), va="center", annotation_clip=False
        )
    curves.set(xticks=range(H), ylim=(0.2, 1.02), yticks=[0.25, 0.5, 0.75, 1])
    sheet.text(290, 28, "share of right answers (a trained classifier)", ha="left")
    sheet.text(418, 272, "heads removed", 12)
    sheet.text(157, 272, "rise of the loss without it", 12)
    return sheet


PICTURES = {
    "09_seq2seq/pictures/alignment.svg": alignment,
    "10_pruning/pictures/removal.svg": removal_curves,
    "11_capstone/pictures/induction.svg": induction,
}

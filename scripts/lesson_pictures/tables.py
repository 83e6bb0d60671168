"""Pictures of tensors as tables of cells."""

from __future__ import annotations

import numpy as np

from lesson_pictures.curves import softmax
from lesson_pictures.sheet import BLUE, BOX, FAINT, GREEN, INK, LINE, ORANGE, PAPER, PURPLE, Sheet

NO = "////"  # hatching: masked out
HEADS = (BLUE, ORANGE)


def masks() -> Sheet:
    """Draw scores, the masked scores, and the softmax of each row."""
    sheet = Sheet(478)
    scores = np.array([[2.0, 1, 0, 3], [1, 1, 2, 5], [0, 2, 1, 1], [1, 0, 1, 2]])
    kinds = [
        ("padding: the length 3 for every query", [3, 3, 3, 3]),
        ("causal: the lengths 1, 2, 3, 4, one per query", [1, 2, 3, 4]),
    ]
    for part, (title, lengths) in enumerate(kinds):
        y = 56 + 216 * part
        sheet.text(24, y - 32, title, 14, ha="left")
        kept = np.arange(4) < np.array(lengths)[:, None]
        weights = softmax(np.where(kept, scores, -np.inf))
        for t in range(4):
            sheet.text(70, y + 34 * t + 17, f"query {t}", 12, ha="right")
            for s in range(4):
                hatch = "" if kept[t, s] else NO
                score = "−∞" if hatch else f"{scores[t, s]:g}"
                weight = "0" if hatch else f"{weights[t, s]:.2f}"
                shade = {"colour": BLUE, "strength": 0.6 * round(float(weights[t, s]), 2)}
                sheet.cell(78 + 46 * s, y + 34 * t, 46, 34, score, hatch=hatch)
                sheet.cell(350 + 46 * s, y + 34 * t, 46, 34, weight, hatch=hatch, **shade)
            sheet.text(544, y + 34 * t + 17, "sum 1", 12, FAINT, ha="left")
        for s in range(4):
            sheet.text(101 + 46 * s, y + 148, f"key {s}", 12)
            sheet.text(373 + 46 * s, y + 148, f"key {s}", 12)
        sheet.arrow((270, y + 68), (342, y + 68))
        sheet.text(306, y + 54, "softmax", 12)
        sheet.text(306, y + 82, "row by row", 12, FAINT)
    sheet.text(170, 460, "masked scores, $(T, S)$", 12)
    sheet.text(442, 460, "weights, $(T, S)$", 12)
    return sheet


def broadcasting() -> Sheet:
    """Draw three sums: a table and a row, a table and a column, a column and a row. Hatched cells are repeated."""
    sheet = Sheet(452)
    table, row, column = np.array([[1, 2, 3], [4, 5, 6]]), np.array([[10, 20, 30]]), np.array([[100], [200]])
    panels = [
        (table, row, "a row for every row of a table", "(2, 3)", "(3,)"),
        (table, column, "a column for every column of a table", "(2, 3)", "(2, 1)"),
        (column, row, "all pairs of a column and a row", "(2, 1)", "(3,)"),
    ]
    for panel, (left, right, title, *shapes) in enumerate(panels):
        y = 56 + 134 * panel
        sheet.text(24, y - 30, title, 14, ha="left")
        parts = [(left, BLUE, shapes[0]), (right, ORANGE, shapes[1]), (left + right, GREEN, "(2, 3)")]
        for place, (numbers, colour, shape) in enumerate(parts):
            x = 24 + 198 * place
            for t, s in np.ndindex(2, 3):
                own = t < numbers.shape[0] and s < numbers.shape[1]
                look = {"strength": 0.35} if own else {"strength": 0.08, "hatch": NO}
                number = np.broadcast_to(numbers, (2, 3))[t, s]
                sheet.cell(x + 52 * s, y + 32 * t, 52, 32, str(number), colour=colour, **look)
            sheet.text(x + 78, y + 80, shape, 12, FAINT)
            if place:
                sheet.text(x - 21, y + 32, ("+", "=")[place - 1], 18)
    sheet.text(300, 434, "hatched: repeated by broadcasting, never copied in memory", 12)
    return sheet


def heads_in_memory() -> Sheet:
    """Draw a reshape alone, and a permute before a reshape; only the second gives each head its own features."""
    sheet = Sheet(452)

    def number(x: float, y: float, n: int, w: float = 34, h: float = 30) -> None:
        head = (n - 1) % 4 // 2
        sheet.cell(x, y, w, h, str(n), colour=HEADS[head], strength=0.3, size=14)
        sheet.line(
            [(x + 3, y + h - 4), (x + w - 3, y + h - 4)], HEADS[head], 2.5, ("-", (0, (1.2, 1.2)))[head]
        )

    sheet.text(160, 24, "X  $(B, T, D)$ = (1, 2, 4)", 13)
    for n in range(1, 9):
        number(92 + 34 * ((n - 1) % 4), 42 + 30 * ((n - 1) // 4), n)
    for t in range(2):
        sheet.text(84, 57 + 30 * t, f"step {t}", 12, ha="right")
    sheet.line([(300, 62), (334, 62)], BLUE, 3)
    sheet.text(344, 62, "features of head 0", 12, ha="left")
    sheet.line([(300, 88), (334, 88)], ORANGE, 3, (0, (1.2, 1.2)))
    sheet.text(344, 88, "features of head 1", 12, ha="left")

    def row(y: float, title: str, order: list[int], verdict: str) -> None:
        sheet.text(24, y, title, 14, ha="left")
        for place, n in enumerate(order):
            number(24 + 34 * place, y + 36, n)
        sheet.text(160, y + 80, "order in memory", 12, FAINT)
        sheet.arrow((304, y + 51), (348, y + 51))
        sheet.text(326, y + 38, "reshape", 12)
        for place, n in enumerate(order):
            head, t, j = place // 4, place % 4 // 2, place % 2
            number(400 + 106 * head + 34 * j, y + 20 + 30 * t, n)
        for head in range(2):
            sheet.text(434 + 106 * head, y + 94, f"result[{head}]", 12)
        for t in range(2):
            sheet.text(394, y + 35 + 30 * t, f"step {t}", 12, ha="right")
        sheet.text(24, y + 116, verdict, 12, ha="left")

    verdict = "result[0] mixes both heads, and all its values come from step 0."
    row(142, "Reshape alone: right shape, wrong content", [1, 2, 3, 4, 5, 6, 7, 8], verdict)
    sheet.line([(24, 280), (576, 280)], FAINT, 0.8)
    verdict = "Each result holds one head, with both steps. Reshape alone cannot put 5 after 2."
    row(306, "Permute the axes, then reshape", [1, 2, 5, 6, 3, 4, 7, 8], verdict)
    return sheet


def cache() -> Sheet:
    """Draw the keys that a query attends to: with all steps in one call, and with one step per call."""
    sheet = Sheet(330)
    side = 38
    sheet.text(168, 24, "training: one call, $T$ = 4", 14)
    sheet.text(444, 24, "prediction: four calls, $T$ = 1", 14)
    for t in range(4):
        y = 66 + 50 * t
        sheet.text(84, y + 17, f"query {t}", 12, ha="right")
        sheet.text(358, y + 17, f"call {t}", 12, ha="right")
        for s in range(4):
            if s <= t:
                sheet.cell(92 + side * s, y, side, 34, str(s), colour=BLUE, strength=0.35)
            else:
                sheet.cell(92 + side * s, y, side, 34, hatch=NO)
            if s < t:
                sheet.cell(368 + side * s, y, side, 34, str(s), colour=ORANGE, strength=0.2)
                ends = [(374 + side * s, y + 29), (362 + side * (s + 1), y + 29)]
                sheet.line(ends, ORANGE, 2.5, (0, (1.2, 1.2)))
            elif s == t:
                sheet.cell(368 + side * s, y, side, 34, str(s), colour=BLUE, strength=0.35, edge=INK)
        sheet.text(368 + side * (t + 1) + 6, y + 17, "new", 12, BLUE, ha="left")
    sheet.text(168, 284, "hatched: masked, because it is later", 12)
    sheet.text(168, 306, "the lengths are 1, 2, 3, 4", 12, FAINT)
    sheet.text(444, 284, "orange, dotted: from the cache", 12)
    sheet.text(444, 306, "later steps do not exist yet", 12, FAINT)
    sheet.text(168, 50, "keys: steps 0 … 3", 12, FAINT)
    sheet.text(444, 50, "keys: the cache and the new step", 12, FAINT)
    return sheet


def owned_by_a_head() -> Sheet:
    """Draw the rows and columns of the four matrices that belong to head 1 of 4."""
    sheet = Sheet(330)
    unit = 15

    def matrix(x: float, y: float, rows: int, columns: int, removed: str) -> None:
        sheet.cell(x, y, columns * unit, rows * unit, colour=BOX)
        right, bottom = x + columns * unit, y + rows * unit
        by_rows = removed == "rows"
        mine = (
            (x, y + 2 * unit, columns * unit, 2 * unit)
            if by_rows
            else (x + 2 * unit, y, 2 * unit, rows * unit)
        )
        sheet.cell(*mine, colour=ORANGE, strength=0.3, hatch="xxxx")
        for at in (2 * unit, 4 * unit, 6 * unit):
            sheet.line(
                [(x, y + at), (right, y + at)] if by_rows else [(x + at, y), (x + at, bottom)], FAINT, 1
            )

    for place, name in enumerate(("$W_q$", "$W_k$", "$W_v$")):
        x = 66 + 122 * place
        sheet.text(x + 37, 26, f"{name}.weight", 13)
        matrix(x, 56, 8, 5, "rows")
        sheet.cell(x + 84, 56, 13, 8 * unit, colour=BOX)
        sheet.cell(x + 84, 56 + 2 * unit, 13, 2 * unit, colour=ORANGE, strength=0.3, hatch="xxxx")
        sheet.text(x + 90, 190, "bias", 12, FAINT)
        sheet.text(x + 37, 190, "inputs", 12, FAINT)
    for h in range(4):
        sheet.text(58, 56 + 2 * h * unit + unit, f"head {h}", 12, ORANGE if h == 1 else INK, ha="right")
    x = 438
    sheet.text(x + 60, 26, "$W_o$.weight", 13)
    matrix(x, 56, 8, 8, "columns")
    sheet.cell(x + 129, 56, 13, 8 * unit, colour=BOX)
    sheet.text(x + 136, 190, "bias", 12, FAINT)
    for h in range(4):
        sheet.text(x + 2 * h * unit + unit, 190, str(h), 12, ORANGE if h == 1 else INK)
    sheet.text(x + 60, 210, "heads", 12, FAINT)
    sheet.text(152, 210, "$D$ rows, $d = D / H$ of them for each head", 12, FAINT)
    sheet.cell(66, 246, 40, 24, colour=ORANGE, strength=0.3, hatch="xxxx")
    sheet.text(116, 258, "belongs to head 1, and is removed with it", 12, ha="left")
    sheet.cell(66, 284, 40, 24, colour=BOX)
    sheet.text(116, 296, "belongs to the other heads; the bias of $W_o$ belongs to none", 12, ha="left")
    return sheet


def strips() -> Sheet:
    """Draw the causal triangle of seven steps, cut into three calls."""
    sheet = Sheet(330)
    size, left, top = 34, 190, 44
    calls = (
        (0, 4, BLUE, "prompt: 4 new, 0 stored"),
        (4, 5, ORANGE, "1 new, 4 stored"),
        (5, 7, GREEN, "2 new, 5 stored"),
    )
    for start, stop, colour, label in calls:
        for row in range(start, stop):
            for column in range(stop):
                may = column <= row
                look = {"colour": colour, "strength": 0.35} if may else {"hatch": "///"}
                sheet.cell(left + column * size, top + row * size, size, size, **look)
        middle = top + (start + stop) * size / 2
        sheet.text(left + 7 * size + 16, middle, label, 12, colour, ha="left")
    for step in range(7):
        sheet.text(left - 14, top + (step + 0.5) * size, str(step), 12, FAINT)
        sheet.text(left + (step + 0.5) * size, top - 14, str(step), 12, FAINT)
    sheet.text(96, top + 3.5 * size, "query\nof step", 13)
    sheet.text(left + 3.5 * size, top - 32, "key of step", 13)
    sheet.text(300, 306, "hatched: a later step of the same call, which is hidden", 12)
    return sheet


def ring() -> Sheet:
    """Draw a ring of five places and two sinks after eleven steps, and what the next query sees of it."""
    sheet = Sheet(330)
    sinks, places = (0, 1), (10, 6, 7, 8, 9)
    sheet.text(84, 34, "2 sinks", 13, PURPLE)
    for i, position in enumerate(sinks):
        sheet.cell(50 + 34 * i, 92, 34, 34, str(position), colour=PURPLE, strength=0.3)
    sheet.text(84, 146, "never overwritten", 12, FAINT)

    sheet.text(330, 34, "a ring of 5 places after steps 0 to 10", 13, BLUE)
    for i, position in enumerate(places):
        next_one = i == 1
        sheet.cell(190 + 56 * i, 92, 56, 34, str(position), colour=ORANGE if next_one else BLUE, strength=0.3)
        sheet.text(218 + 56 * i, 146, f"place {i}", 12, FAINT)
    sheet.arrow((274, 58), (274, 88), colour=ORANGE, width=2)
    sheet.text(284, 66, "step 11 is written here", 12, ORANGE, ha="left")

    sheet.text(300, 194, "the row of the mask for the query at 11, with a window of 5 and 2 sinks", 13)
    columns = [*sinks, *places, 11]
    for i, position in enumerate(columns):
        x, may = 150 + 46 * i, position < len(sinks) or 11 - position < len(places)
        look = {"colour": GREEN, "strength": 0.35} if may else {"hatch": NO}
        sheet.text(x + 23, 222, str(position), 12, FAINT)
        sheet.cell(x, 234, 46, 34, "✓" if may else "", **look)
    sheet.text(140, 222, "key at", 12, FAINT, ha="right")
    sheet.text(140, 251, "query at 11", 12, ha="right")
    sheet.text(
        300, 294, "The place of a key says nothing about its position: the mask asks the position.", 12
    )
    return sheet


def tiles() -> Sheet:
    """Draw a table of scores in tiles, and the weights of one query before and after a block with a larger maximum."""
    sheet = Sheet(350)
    size, left, top, block, offset = 22, 62, 84, 3, 2
    sheet.text(left + 4.5 * size, 24, "scores: 7 queries, 9 keys, blocks of 3", 13)
    for t in range(7):
        sheet.text(left - 12, top + (t + 0.5) * size, str(t), 12, FAINT)
        for s in range(9):
            hidden = s > t + offset
            skipped = s // block * block > min(t // block * block + block - 1, 6) + offset
            look: dict[str, object] = {"hatch": NO} if hidden else {"colour": BOX}
            if t == 5 and not hidden:
                look = {"colour": ORANGE if s // block == 2 else BLUE, "strength": 0.4}
            sheet.cell(left + s * size, top + t * size, size, size, edge=PAPER if skipped else LINE, **look)
    for s in range(9):
        sheet.text(left + (s + 0.5) * size, top - 12, str(s), 12, FAINT)
    for cut in (0, 3, 6, 9):
        sheet.line([(left + cut * size, top), (left + cut * size, top + 7 * size)], INK, 1.8)
    for cut in (0, 3, 6, 7):
        sheet.line([(left, top + cut * size), (left + 9 * size, top + cut * size)], INK, 1.8)
    sheet.text(left + 4.5 * size, top - 34, "key", 12)
    sheet.text(26, top + 3.5 * size, "query", 12, rotation=90)
    sheet.arrow((left + 9 * size + 24, top - 16), (left + 7.5 * size, top + 1.5 * size))
    sheet.text(left + 9 * size + 26, top - 20, "skipped", 12, ha="left")
    sheet.text(left + 4.5 * size, 262, "hatched: later keys, hidden by the mask", 12)
    sheet.text(left + 4.5 * size, 288, "blue: summed up for query 5", 12, BLUE)
    sheet.text(left + 4.5 * size, 310, "orange: its next block", 12, ORANGE)

    sheet.text(364, 24, "query 5: weights relative to $m$", 13, ha="left")
    scores = [0.8, 1.4, 2.0, 1.1, 1.7, 0.6, 3.0, 2.3]
    for count, base, title in ((6, 168, "after two blocks"), (8, 310, "after the third block")):
        m = max(scores[:count])
        weights = [np.exp(score - m) for score in scores[:count]]
        x = 372
        for i, weight in enumerate(weights):
            colour = BLUE if i < 6 else ORANGE
            sheet.cell(x + 24 * i, base - 70 * weight, 18, 70 * weight, colour=colour, strength=0.4)
            if count == 8 and i < 6:
                before = np.exp(scores[i] - max(scores[:6]))
                sheet.line(
                    [(x + 24 * i, base - 70 * before), (x + 24 * i + 18, base - 70 * before)], BLUE, 1.6, ":"
                )
        sheet.line([(x - 8, base), (x + 8 * 24 + 4, base)], FAINT)
        sheet.text(x - 8, base - 84, f"{title}:  m = {m:.0f},  l = {sum(weights):.2f}", 12, ha="left")
    sheet.text(372 + 70, 328, r"all times $e^{2-3}$ = 0.37", 12, BLUE)
    sheet.text(372 + 166, 328, "added", 12, ORANGE)
    return sheet

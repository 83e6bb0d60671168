"""Pictures with curves or bars. Their values are computed: from the formulas of a lesson, or by a small simulation."""

from __future__ import annotations

from itertools import groupby

import numpy as np

from lesson_pictures.sheet import BLUE, FAINT, INK, ORANGE, PAPER, Sheet, pt


def softmax(scores: np.ndarray) -> np.ndarray:
    """Return the softmax along the last axis."""
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def kernel_regression() -> Sheet:
    sheet = Sheet(420)
    keys, values = np.array([0.0, 1, 2, 3.5, 4.5, 6]), np.array([1.0, 2.4, 2.0, 3.4, 1.2, 1.8])
    places, query = np.linspace(-0.6, 6.6, 145), 2.7

    def weights(q: np.ndarray, w: float) -> np.ndarray:
        return softmax(-(((q[:, None] - keys) * w) ** 2) / 2)

    top = sheet.axes(58, 42, 420, 190)
    for place, (w, style, colour) in enumerate(((0.1, ":", FAINT), (1.5, "-", BLUE), (20, "--", ORANGE))):
        curve = weights(places, w) @ values
        top.plot(places, curve, style, color=colour, linewidth=pt(2.2 if w == 1.5 else 1.7))
        y = 74 + 26 * place
        sheet.line([(490, y), (518, y)], colour, 2, style)
        sheet.text(526, y, f"$w$ = {w:g}", 12, ha="left")
    answer = (weights(np.array([query]), 1.5) @ values)[0]
    top.plot(keys, values, "o", color=INK, markersize=pt(7))
    top.plot([query], [answer], "D", color=BLUE, markersize=pt(9))
    top.plot([query, query], [0, answer], color=BLUE, linewidth=pt(1), linestyle=(0, (2, 2)))
    top.set(xlim=(-0.6, 6.6), ylim=(0, 3.9), xticks=keys, xticklabels=[], yticks=[0, 1, 2, 3])
    sheet.text(58, 22, "values $v_s$ (dots) and answers $f(q)$ (curves)", ha="left")
    sheet.text(490, 168, "◆ $f(2.7)$\nwith $w$ = 1.5", 12, BLUE, ha="left")

    low = sheet.axes(58, 280, 420, 92)
    shares = weights(np.array([query]), 1.5)[0]
    bell = np.exp(-(((query - places) * 1.5) ** 2) / 2)
    tallest = np.exp(-(((query - keys) * 1.5) ** 2) / 2).max()
    # The kernel, scaled so that it touches the tops of the bars.
    low.plot(places, bell * shares.max() / tallest, ":", color=BLUE, linewidth=pt(1.2))
    low.bar(keys, shares, 0.22, color=BLUE)
    for key, share in zip(keys, shares, strict=True):
        va = "bottom" if share > 0.1 else "center"
        low.text(key + 0.17, share + 0.05, f"{share:.2f}", fontsize=pt(12), color=INK, ha="left", va=va)
    low.plot([query, query], [0, 1.02], color=BLUE, linewidth=pt(1), linestyle=(0, (2, 2)))
    low.set(
        xlim=(-0.6, 6.6), ylim=(0, 0.95), xticks=keys, xticklabels=[f"{k:g}" for k in keys], yticks=[0, 0.5]
    )
    sheet.text(58, 256, "weights $α_s(q)$ for $q$ = 2.7 and $w$ = 1.5: they sum to 1", ha="left")
    sheet.text(486, 352, "the dotted bell\nis the kernel", 12, FAINT, ha="left")
    sheet.text(268, 402, "places: keys $k_s$ (ticks), query $q$ (dashed line)", 12)
    return sheet


def square_root() -> Sheet:
    """Draw the sorted weights of eight random keys, with and without the division by the root."""
    sheet = Sheet(322)
    random = np.random.default_rng(3)
    for column, d in enumerate((4, 64, 512)):
        queries, keys = random.standard_normal((1000, 1, d)), random.standard_normal((1000, 8, d))
        x = 150 + 148 * column
        sheet.text(x + 60, 24, f"$d$ = {d}")
        for row, scale in enumerate((1.0, d**0.5)):
            axes = sheet.axes(x, 56 + 122 * row, 120, 90)
            shares = np.sort(softmax((queries * keys).sum(-1) / scale))[:, ::-1].mean(0)
            axes.bar(range(1, 9), shares, 0.75, color=(ORANGE, BLUE)[row])
            axes.text(1.6, shares[0], f"{shares[0]:.2f}", ha="left", va="center", fontsize=pt(12), color=INK)
            axes.set(ylim=(0, 1.08), yticks=[0, 1], xticks=[])
            if column:
                axes.set_yticklabels([])
    sheet.text(64, 102, "softmax of\n$q^\\top k$", 14, ORANGE)
    sheet.text(64, 224, "softmax of\n$q^\\top k$ / $\\sqrt{d}$", 14, BLUE)
    sheet.text(
        300, 300, "bars: 8 random keys, from the largest weight to the smallest (mean of 1000 queries)", 12
    )
    return sheet


def table_of_sines() -> Sheet:
    sheet = Sheet(400)
    D, T, left, wide, high = 8, 32, 86, 12.75, 34
    for column in range(D):
        j, y = column // 2, 48 + column * 38
        function = np.cos if column % 2 else np.sin
        values = function(np.arange(T) / 10000 ** (2 * j / D))
        shades = [round(float(v) * 10) for v in values]
        # One cell for each run of equal shades: the file is smaller.
        for shade, run in groupby(range(T), key=shades.__getitem__):
            first, *others = run
            look = {"colour": BLUE if shade > 0 else ORANGE, "strength": 0.045 * abs(shade), "edge": "none"}
            sheet.cell(left + first * wide, y, wide * (1 + len(others)), high, **look)
        points = np.linspace(0, T - 1, 125)
        wave = function(points / 10000 ** (2 * j / D))
        heights = y + high / 2 - wave * (high / 2 - 3)
        sheet.line([*zip(left + (points + 0.5) * wide, heights, strict=True)])
        sheet.text(left - 10, y + high / 2, f"{column}  {('sin', 'cos')[column % 2]}", ha="right")
    for j in range(D // 2):
        y = 48 + j * 76
        x = left + T * wide + 6
        sheet.line([(x, y), (x + 5, y), (x + 5, y + 72), (x, y + 72)], FAINT)
        sheet.text(x + 12, y + 36, f"$j$ = {j}\nspeed {10000 ** (-2 * j / D):g}", 12, ha="left")
    sheet.text(left - 10, 28, "column", 12, FAINT, ha="right")
    sheet.text(
        left, 28, "blue and above the middle: positive; orange and below: negative", 12, FAINT, ha="left"
    )
    for i in (0, 10, 20, 31):
        sheet.text(left + (i + 0.5) * wide, 362, str(i), 12)
    sheet.text(left + T * wide / 2, 384, "position $i$")
    return sheet


def clocks() -> Sheet:
    """Draw the hands of a query and a key, and the same pair of vectors a hundred positions later."""
    sheet = Sheet(330)
    pairs, radius, left = 6, 34, 118
    for row, (query, key) in enumerate(((7, 4), (107, 104))):
        y = 96 + row * 132
        sheet.text(56, y - 10, f"query at {query}", 13, BLUE)
        sheet.text(56, y + 10, f"key at {key}", 13, ORANGE)
        for pair in range(pairs):
            x, speed = left + 40 + pair * 78, 10000 ** (-pair / pairs)
            sheet.box(x - radius, y - radius, 2 * radius, 2 * radius, colour=PAPER, round=radius)
            for position, colour in ((query, BLUE), (key, ORANGE)):
                angle = position * speed
                tip = (x + 0.88 * radius * np.cos(angle), y - 0.88 * radius * np.sin(angle))
                sheet.arrow((x, y), tip, colour=colour, width=2)
            if not row:
                sheet.text(x, 32, f"pair {pair}", 12, FAINT)
            between = np.rad2deg((query - key) * speed) % 360
            sheet.text(x, y + radius + 14, f"{between:.1f}°", 12)
    sheet.text(300, 306, "below each clock: the angle from the key to the query, the same in both rows", 12)
    return sheet


def overlap() -> Sheet:
    """Draw what two distributions share, and what each has alone."""
    sheet = Sheet(330)
    target, draft = (0.35, 0.15, 0.3, 0.2), (0.2, 0.4, 0.3, 0.1)
    left, bottom, width, high = 76, 262, 62, 500  # high: the pixels of probability 1
    for token, (p, q) in enumerate(zip(target, draft, strict=True)):
        x, both = left + token * 84, min(p, q)
        parts = (
            (0, both, {"colour": BLUE, "strength": 0.35}),
            (both, p, {"colour": BLUE, "strength": 0.12, "hatch": "///"}),
            (both, q, {"hatch": "xx"}),
        )
        for low, top, look in parts:
            if top > low:
                sheet.cell(x, bottom - top * high, width, (top - low) * high, **look)
        sheet.line([(x - 8, bottom - p * high), (x + width + 8, bottom - p * high)], BLUE, 2.4)
        sheet.line([(x - 8, bottom - q * high), (x + width + 8, bottom - q * high)], ORANGE, 2.4, "--")
        sheet.text(x + width / 2, bottom + 16, f"token {token}", 12)
    sheet.line([(left - 14, bottom), (left + 4 * 84, bottom)], FAINT, 1)
    for level in (0.2, 0.4):
        sheet.text(left - 34, bottom - level * high, f"{level:g}", 12, FAINT)
    sheet.line([(434, 60), (462, 60)], BLUE, 2.4)
    sheet.text(470, 60, "target $p$", 12, BLUE, ha="left")
    sheet.line([(434, 86), (462, 86)], ORANGE, 2.4, "--")
    sheet.text(470, 86, "draft $q$", 12, ORANGE, ha="left")
    rows = (
        ({"colour": BLUE, "strength": 0.35}, "kept\nmin($p$, $q$)"),
        ({"colour": BLUE, "strength": 0.12, "hatch": "///"}, "drawn instead\n$(p - q)_+$"),
        ({"hatch": "xx"}, "rejected\n$(q - p)_+$"),
    )
    for row, (look, label) in enumerate(rows):
        sheet.cell(434, 116 + row * 50, 28, 28, **look)
        sheet.text(470, 130 + row * 50, label, 12, ha="left")
    sheet.text(
        300, 308, "the two blue areas are the target; the hatched area is as large as the crossed one", 12
    )
    return sheet


# `scripts/language_model_seeds.py`, seed 0: the loss of every twentieth of 1000 batches, before the model learns from it.
LOSSES = (
    "4.125 3.232 2.679 1.860 1.176 0.679 0.476 0.479 0.368 0.322 0.317 0.307 0.311 0.299 0.293 0.276 0.285 "
    "0.268 0.274 0.267 0.253 0.242 0.247 0.244 0.245 0.233 0.219 0.220 0.207 0.201 0.216 0.209 0.201 0.201 "
    "0.203 0.201 0.198 0.193 0.189 0.196 0.199 0.188 0.192 0.195 0.192 0.186 0.193 0.189 0.196 0.178"
)


def loss_of_a_training() -> Sheet:
    """Draw the loss of a training of 1000 steps on a logarithmic axis, what counting reaches, and the floor."""
    sheet = Sheet(340)
    losses = np.array([float(loss) for loss in LOSSES.split()])
    curve = sheet.axes(62, 48, 420, 246)
    curve.set_yscale("log")
    curve.plot(20 * np.arange(len(losses)), losses, color=BLUE, linewidth=pt(2.2))
    ticks = [0.2, 0.3, 0.5, 1, 2, 4]
    curve.set(xlim=(0, 1000), ylim=(0.16, 5), xticks=[0, 200, 400, 600, 800, 1000], yticks=ticks)
    curve.set_yticklabels([f"{tick:g}" for tick in ticks])
    curve.minorticks_off()
    for loss, says, colour in (
        (4.08, "guessing", FAINT),
        (2.11, "counts of 2", FAINT),
        (1.03, "counts of 3", FAINT),
        (0.44, "counts of 5", FAINT),
        (0.188, "the floor", ORANGE),
    ):
        curve.axhline(loss, color=colour, linewidth=pt(1.2), linestyle=":")
        curve.annotate(says, (1010, loss), color=colour, fontsize=pt(12), va="center", annotation_clip=False)
    for step, loss, says in ((110, 1.4, "spelling"), (260, 0.35, "names"), (540, 0.245, "rhymes")):
        curve.annotate(says, (step, loss), color=INK, fontsize=pt(12))
    sheet.text(62, 24, "loss in nats per character", ha="left")
    sheet.text(272, 326, "steps", 12)
    return sheet

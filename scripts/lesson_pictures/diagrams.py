"""Pictures of how data passes through layers, from top to bottom."""

from __future__ import annotations

from lesson_pictures.sheet import BLUE, BOX, FAINT, GREEN, ORANGE, Sheet

DOTTED = (0, (3, 2))


def multi_head_attention() -> Sheet:
    sheet = Sheet(520)
    lanes = [
        ("queries", "T", "query_size", 90),
        ("keys", "S", "key_size", 250),
        ("values", "S", "value_size", 410),
    ]
    for name, steps, size, x in lanes:
        sheet.text(x, 24, name, 14)
        sheet.arrow((x, 36), (x, 78))
        sheet.shape(x + 8, 54, f"(B, {steps}, {size})")
        sheet.box(x - 42, 78, 84, 32, f"$W_{name[0]}$", colour=BLUE, strength=0.2, size=15)
        sheet.arrow((x, 110), (x, 152))
        sheet.shape(x + 8, 130, f"(B, {steps}, D)")
        sheet.box(x - 56, 152, 112, 30, "split into heads", size=12)
        sheet.arrow((x, 182), (x, 232))
        sheet.shape(x + 8, 204, f"(B·H, {steps}, d)")
    for back in (12, 6, 0):
        sheet.box(34 + back, 244 - back, 432, 58, colour=BOX)
    sheet.text(250, 273, "scaled dot-product attention with mask\nin every row: one head of one sequence", 13)
    sheet.box(494, 258, 88, 30, "valid_lens", size=12, dashed=True)
    sheet.arrow((494, 273), (468, 273), style=DOTTED)
    sheet.text(538, 302, "one per row", 12, FAINT, va="center")
    x = 250
    sheet.arrow((x, 302), (x, 340))
    sheet.shape(x + 8, 320, "(B·H, T, d)")
    sheet.box(x - 76, 340, 152, 30, "concatenate heads", size=12)
    sheet.arrow((x, 370), (x, 408))
    sheet.shape(x + 8, 388, "(B, T, D)")
    sheet.box(x - 42, 408, 84, 32, "$W_o$", colour=BLUE, strength=0.2, size=15)
    sheet.arrow((x, 440), (x, 478))
    sheet.shape(x + 8, 458, "(B, T, D)")
    sheet.text(x, 494, "result", 14)
    sheet.text(354, 424, "learned: the four $W$;  $d = D / H$", 12, FAINT, ha="left")
    return sheet


def part(sheet: Sheet, x: float, y: float, name: str, colour: str) -> float:
    """Draw a sublayer with its residual connection and its normalisation below (x, y). Return the y of its end."""
    sheet.arrow((x, y - 34), (x - 140, y - 34), (x - 140, y + 75), (x - 9, y + 75), colour=ORANGE, width=2)
    sheet.box(x - 90, y, 180, 40, name, colour=colour, strength=0.2)
    sheet.arrow((x, y + 40), (x, y + 66))
    sheet.text(x + 10, y + 52, "dropout", 12, FAINT, ha="left")
    sheet.plus(x, y + 75)
    sheet.arrow((x, y + 84), (x, y + 104))
    sheet.box(x - 90, y + 104, 180, 28, "LayerNorm")
    sheet.line([(x + 98, y + 64), (x + 104, y + 64), (x + 104, y + 132), (x + 98, y + 132)], FAINT)
    sheet.text(x + 112, y + 98, "AddNorm", 12, ha="left")
    return y + 132


def encoder_block() -> Sheet:
    sheet = Sheet(496)
    x = 270
    sheet.text(x, 22, "$X$", 15)
    sheet.shape(x + 22, 22, "(B, T, D)")
    sheet.arrow((x, 34), (x, 96))
    for shift in (-50, 50):
        sheet.arrow((x, 76), (x + shift, 76), (x + shift, 96))
    sheet.text(x + 62, 82, "queries, keys and values: all $X$", 12, FAINT, ha="left")
    end = part(sheet, x, 96, "multi-head self-attention", BLUE)
    sheet.box(432, 101, 96, 30, "valid_lens", size=12, dashed=True)
    sheet.arrow((432, 116), (360, 116), style=DOTTED)
    sheet.text(118, 116, "residual\nconnection", 12, ORANGE, ha="right")
    sheet.arrow((x, end), (x, end + 60))
    sheet.text(x + 10, end + 12, "$Y$", 15, ha="left")
    sheet.shape(x + 32, end + 12, "(B, T, D)")
    sheet.text(118, end + 80, "residual\nconnection,\nfrom $Y$", 12, ORANGE, ha="right")
    sheet.text(372, end + 80, "for each position alone:\nD → ffn_num_hiddens → D", 12, FAINT, ha="left")
    end = part(sheet, x, end + 60, "position-wise FFN", GREEN)
    sheet.arrow((x, end), (x, end + 36))
    sheet.shape(x + 10, end + 16, "(B, T, D)")
    sheet.text(x, end + 50, "into the next block", 13)
    return sheet


def decoder_block() -> Sheet:
    sheet = Sheet(676)
    x, y = 220, 96
    sheet.text(x, 22, "$X$", 15)
    sheet.shape(x + 22, 22, "(B, T, D): the steps of this call")
    sheet.arrow((x, 34), (x, y))
    looks = [
        (
            "1  self-attention",
            "$C$: all steps so far,\nin training $X$ itself,\nelse the cache and $X$",
            "mask: the target's lengths\n(causal, in training)",
            "$Y$",
        ),
        (
            "2  cross-attention",
            "$E$: outputs of\nthe encoder,\n(B, S, D)",
            "mask: the source's lengths\n(padding)",
            "$Z$",
        ),
    ]
    for name, source, mask, result in looks:
        sheet.text(x + 10, y - 16, "queries", 12, FAINT, ha="left")
        end = part(sheet, x, y, name, BLUE)
        sheet.box(410, y - 14, 166, 66, source, size=12, dashed=True)
        sheet.arrow((410, y + 20), (x + 90, y + 20), style=DOTTED)
        sheet.text(360, y + 8, "keys, values", 12, FAINT)
        sheet.text(412, y + 74, mask, 12, FAINT, ha="left")
        sheet.arrow((x, end), (x, end + 60))
        sheet.text(x + 10, end + 12, result, 15, ha="left")
        sheet.shape(x + 32, end + 12, "(B, T, D)")
        y = end + 60
    end = part(sheet, x, y, "3  position-wise FFN", GREEN)
    sheet.text(68, 132, "residual", 12, ORANGE, ha="right")
    sheet.arrow((x, end), (x, end + 34))
    sheet.shape(x + 10, end + 16, "(B, T, D)")
    sheet.text(x, end + 46, "into the next block", 13)
    return sheet


def reading_encoder() -> Sheet:
    sheet = Sheet(478)
    weights = [0.1, 0.6, 0.3, 0.0]
    sheet.text(24, 24, "keys and values: the encoder's outputs", 13, ha="left")
    for j, weight in enumerate(weights):
        x = 60 + 92 * j
        if j == 3:
            sheet.cell(x - 34, 44, 68, 34, colour=BLUE, strength=0.0, hatch="////")
            sheet.text(x + 42, 61, "padding", 12, FAINT, ha="left")
        else:
            sheet.cell(x - 34, 44, 68, 34, f"$h_{j + 1}$", colour=BLUE, strength=0.2, size=15)
            sheet.arrow((x, 78), (x, 128))
        sheet.cell(x - 12, 172 - 60 * weight, 24, 60 * weight + 0.5, colour=ORANGE, strength=0.6)
        sheet.line([(x - 24, 172), (x + 24, 172)], FAINT)
        sheet.text(x, 186, f"{weight:g}", 12)
    sheet.text(390, 158, "weights $α$ of this step,\n(B, 1, S): they sum to 1", 12, ORANGE, ha="left")
    sheet.box(18, 204, 330, 34, "additive attention: weighted mean of the $h_j$", size=12)
    sheet.text(474, 208, "query $s_{t-1}$: the last layer's\nstate before this step, (B, 1, D)", 12, GREEN)
    sheet.arrow((384, 228), (350, 228), colour=GREEN, width=1.8)
    sheet.arrow((183, 238), (183, 288))
    sheet.text(193, 254, "context $c_t$", 13, ha="left")
    sheet.shape(193, 272, "(B, 1, D)")
    sheet.box(110, 288, 146, 30, "concatenate: [$c_t$, $x_t$]", size=12)
    sheet.arrow((76, 303), (110, 303))
    sheet.text(24, 303, "word $x_t$\n(B, E)", 12, ha="left")
    sheet.arrow((256, 303), (330, 303))
    sheet.shape(293, 288, "D + E", ha="center")
    sheet.box(330, 286, 86, 34, "GRU", colour=BLUE, strength=0.2, size=15)
    sheet.arrow((373, 320), (373, 366))
    sheet.text(383, 342, "output", 12, FAINT, ha="left")
    sheet.box(330, 366, 86, 30, "linear", colour=BLUE, strength=0.2)
    sheet.arrow((373, 396), (373, 436))
    sheet.text(373, 450, "scores of step $t$, (B, V)", 12)
    sheet.arrow((416, 303), (500, 303), colour=GREEN, width=1.8)
    sheet.text(506, 303, "$s_t$", 15, GREEN, ha="left")
    sheet.arrow((516, 290), (516, 230), colour=GREEN, width=1.8, style=DOTTED)
    sheet.text(526, 262, "for the\nnext step", 12, GREEN, ha="left")
    sheet.line([(440, 228), (440, 272), (373, 272)], GREEN, 1.8)
    sheet.arrow((373, 272), (373, 286), colour=GREEN, width=1.8)
    return sheet


def language_model_block() -> Sheet:
    """Draw a block that normalises first: x goes straight up, and each part adds to it."""
    sheet = Sheet(420)
    x, side = 150, 330
    sheet.text(x, 22, "$x$", 15)
    sheet.shape(x + 16, 22, "(B, T, D)")
    sheet.arrow((x, 34), (x, 396), colour=ORANGE, width=2.2)
    sheet.text(x - 16, 128, "x itself:\nno layer\non the way", 12, ORANGE, ha="right")
    y = 60
    for norm, name, says, colour in (
        ("norm1", "attention", "queries, keys: turned\nkeys, values: to the cache", BLUE),
        ("norm2", "ffn (SwiGLU)", "each position alone:\nD → 8D/3, gate and up → D", GREEN),
    ):
        sheet.arrow((x, y), (side, y), (side, y + 16))
        sheet.box(side - 60, y + 16, 120, 30, norm)
        sheet.arrow((side, y + 46), (side, y + 64))
        sheet.box(side - 60, y + 64, 120, 40, name, colour=colour, strength=0.2)
        sheet.text(side + 72, y + 84, says, 12, FAINT, ha="left")
        sheet.arrow((side, y + 104), (side, y + 132), (x + 12, y + 132))
        sheet.plus(x, y + 132)
        y += 164
    sheet.text(x, 408, "into the next block", 13)
    return sheet

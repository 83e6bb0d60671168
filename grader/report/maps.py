"""Draw attention maps: in a terminal, as HTML, and with matplotlib.

    from grader.report.maps import show
    show(attention_maps(encoder, tokens, None), ["the", "cat", "sat"])

Queries run from top to bottom, keys from left to right. Importing this imports neither torch nor matplotlib.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console, Group, RenderableType
from rich.text import Text

from grader.bundle.safetensors import Array
from grader.support.i18n import _
from grader.support.sanitize import sanitize

SHADES = " ░▒▓█"  # from 0 to 1; distinguishable without colour
WIDTH = 78  # columns of a row
NARROWEST, WIDEST = 3, 7  # columns of one key

Maps = Mapping[str, Sequence[Any]]  # part, such as "cross" → one array per layer: (B, H, T, S)


@dataclass(frozen=True)
class Map:
    """The weights of one head: (T, S), with the words of its axes."""

    title: str
    weights: Array
    queries: Sequence[str]
    keys: Sequence[str]


def maps_of(
    maps: Maps, tokens: Sequence[str], source: Sequence[str] | None = None, sentence: int = 0
) -> Iterator[Map]:
    """Yield every layer and head of one sentence of the batch.

    tokens, source: the words of the sentence; `source` has those of the encoder, for "cross". sentence: its index in
    the batch.

    Raises ValueError if the maps are not as `attention_maps` returns them, or if the number of words is wrong.
    """
    for part, layers in maps.items():
        for number, layer in enumerate(layers):
            weights = _values(layer)
            if weights.ndim != 4:
                says = _("{part}, layer {number}: wrong shape {shape}, expected (B, H, T, S)")
                raise ValueError(says.format(part=part, number=number, shape=weights.shape))
            if not 0 <= sentence < len(weights):
                says = _("{part}, layer {number}: no sentence {sentence} in a batch of {size}")
                raise ValueError(says.format(part=part, number=number, sentence=sentence, size=len(weights)))
            steps, keys = weights.shape[2:]
            rows = _labels(tokens, steps, part)
            columns = _labels((source or ()) if part == "cross" else tokens, keys, part)
            for head, table in enumerate(weights[sentence]):
                title = _("{part} · layer {layer} · head {head}").format(part=part, layer=number, head=head)
                yield Map(title, table, rows, columns)


def _values(layer: Any) -> Array:
    plain = layer.detach().cpu().double().numpy() if hasattr(layer, "detach") else layer
    return np.nan_to_num(np.asarray(plain, dtype=np.float64))


def _labels(words: Sequence[str], count: int, part: str) -> list[str]:
    """Return the words of an axis, or the positions if there are no words."""
    if not words:
        return [str(i) for i in range(count)]
    if len(words) != count:
        raise ValueError(
            _("{part}: got {words} words for {count} steps").format(part=part, words=len(words), count=count)
        )
    return [sanitize(word) or " " for word in words]


# ---- terminal


def show(
    maps: Maps,
    tokens: Sequence[str],
    source: Sequence[str] | None = None,
    sentence: int = 0,
    console: Console | None = None,
) -> None:
    """Print every head of one sentence; see `maps_of`."""
    (console or Console(highlight=False)).print(
        Group(*(blocks(one) for one in maps_of(maps, tokens, source, sentence)), _legend())
    )


def blocks(one: Map) -> RenderableType:
    """Return one head as rows of shaded blocks, at most 78 columns wide, with a note on keys left out."""
    label = min(12, max(map(len, one.queries)))
    room = WIDTH - label - 3  # without " │" before the cells and "│" after them
    wide = min(WIDEST, max(NARROWEST, max(map(len, one.keys)) + 1))
    wide = max(NARROWEST, min(wide, room // len(one.keys)))
    shown = min(len(one.keys), room // wide)
    head = " " * (label + 2) + "".join(_cut(key, wide - 1).ljust(wide) for key in one.keys[:shown])
    lines = [Text(one.title, style="bold"), Text(head.rstrip(), style="dim")]
    for query, row in zip(one.queries, one.weights, strict=True):
        cells = "".join(_shade(weight) * (wide - 1) + " " for weight in row[:shown])
        lines.append(Text(f"{_cut(query, label).rjust(label)} │{cells}│"))
    if shown < len(one.keys):
        lines.append(Text(_("the first {n} of {all} keys").format(n=shown, all=len(one.keys)), style="dim"))
    return Group(*lines, Text())


def _shade(weight: float) -> str:
    """Return the block for a weight; the lightest shade begins at 0.05."""
    return SHADES[int(np.searchsorted((0.05, 0.25, 0.5, 0.75), weight, side="right"))]


def _cut(word: str, size: int) -> str:
    return word if len(word) <= size else word[: max(1, size - 1)] + "…" * (size > 1)


def _legend() -> Text:
    return Text(_("weights: blank < 0.05   ░ < 0.25   ▒ < 0.5   ▓ < 0.75   █ ≥ 0.75"), style="dim")


# ---- HTML


def html(maps: Maps, tokens: Sequence[str], source: Sequence[str] | None = None, sentence: int = 0) -> str:
    """Render every head of one sentence as a table, for a page or for IPython.display.HTML; see `maps_of`."""
    from grader.report.templates import render

    return render(
        "maps.html.jinja", maps=[(one, _rows(one)) for one in maps_of(maps, tokens, source, sentence)]
    )


def _rows(one: Map) -> Iterator[tuple[str, list[tuple[int, str]]]]:
    """Yield each query with its cells: the shade from 0 to 10, and the weight as text."""
    for query, row in zip(one.queries, one.weights, strict=True):
        shares = [min(1.0, max(0.0, float(weight))) for weight in row]
        yield query, [(round(10 * share), f"{share:.2f}") for share in shares]


# ---- matplotlib


def draw(maps: Maps, tokens: Sequence[str], source: Sequence[str] | None = None, sentence: int = 0) -> Any:
    """Draw every head of one sentence in one matplotlib figure, one row per layer.

    Raises ImportError if matplotlib is not installed, and ValueError as `maps_of` does.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError(_("matplotlib is not installed; use `show` to draw in the terminal")) from None
    found = list(maps_of(maps, tokens, source, sentence))
    heads = [len(_values(layer)[sentence]) for layers in maps.values() for layer in layers]
    rows, columns = len(heads), max(heads)
    figure = Figure(figsize=(2.6 * columns, 2.6 * rows), layout="constrained")
    places = (row * columns + head for row, count in enumerate(heads) for head in range(count))
    for place, one in zip(places, found, strict=True):
        axes = figure.add_subplot(rows, columns, place + 1)
        axes.imshow(one.weights, vmin=0, vmax=1, cmap="Blues")
        axes.set_title(one.title, fontsize=8)
        axes.set_xticks(range(len(one.keys)), one.keys, fontsize=7, rotation=60)
        axes.set_yticks(range(len(one.queries)), one.queries, fontsize=7)
    return figure

"""Attention maps as pictures: in a terminal, as HTML, and with matplotlib.

    from grader.report.maps import show
    show(attention_maps(encoder, tokens, None), ["the", "cat", "sat"])

Queries run from top to bottom, keys from left to right. Importing this imports neither torch nor matplotlib.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from rich.console import Console, Group, RenderableType
from rich.text import Text

from grader.bundle.safetensors import Array
from grader.support.i18n import _
from grader.support.sanitize import sanitize

SHADES = " ░▒▓█"  # from 0 to 1; told apart without any colour
WIDTH, NARROWEST, WIDEST = 78, 3, 7

Maps = Mapping[str, Sequence[Any]]


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
    """Every layer and head of one sentence. `source`: the encoder's words, for "cross".

    Raises ValueError where the maps are not as `attention_maps` gives them, or words do not fit.
    """
    for part, layers in maps.items():
        for number, layer in enumerate(layers):
            weights = _numbers(layer)
            if weights.ndim != 4 or not 0 <= sentence < len(weights):
                raise ValueError(
                    _(
                        "{part}, layer {number}: the shape is {shape}; it should be (B, H, T, S), with a sentence {sentence}"
                    ).format(part=part, number=number, shape=weights.shape, sentence=sentence)
                )
            steps, keys = weights.shape[2:]
            rows = _fitting(tokens, steps, part)
            columns = _fitting((source or ()) if part == "cross" else tokens, keys, part)
            for head, table in enumerate(weights[sentence]):
                title = _("{part} · layer {layer} · head {head}").format(part=part, layer=number, head=head)
                yield Map(title, table, rows, columns)


def _numbers(layer: Any) -> Array:
    plain = layer.detach().cpu().double().numpy() if hasattr(layer, "detach") else layer
    return np.nan_to_num(np.asarray(plain, dtype=np.float64))


def _fitting(words: Sequence[str], count: int, part: str) -> list[str]:
    """The words of an axis; where there are none their numbers."""
    if not words:
        return [str(i) for i in range(count)]
    if len(words) != count:
        raise ValueError(
            _("{part}: {words} words for {count} steps").format(part=part, words=len(words), count=count)
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
    """One head as rows of shaded blocks, at most 78 columns wide; further keys are left out and told."""
    label = min(12, max(map(len, one.queries)))
    wide = min(
        WIDEST,
        max(
            NARROWEST,
            max(map(len, one.keys)) + 1,
        ),
    )
    wide = max(NARROWEST, min(wide, (WIDTH - label - 3) // len(one.keys)))
    shown = min(len(one.keys), (WIDTH - label - 3) // wide)
    head = " " * (label + 2) + "".join(_cut(key, wide - 1).ljust(wide) for key in one.keys[:shown])
    lines = [Text(one.title, style="bold"), Text(head.rstrip(), style="dim")]
    for query, row in zip(one.queries, one.weights, strict=True):
        cells = "".join(_shade(weight) * (wide - 1) + " " for weight in row[:shown])
        lines.append(Text(f"{_cut(query, label).rjust(label)} │{cells}│"))
    if shown < len(one.keys):
        lines.append(Text(_("the first {n} of {all} keys").format(n=shown, all=len(one.keys)), style="dim"))
    return Group(*lines, Text())


def _shade(weight: float) -> str:
    """A weight that is not nothing shows: the lightest shade begins at one twentieth."""
    return SHADES[int(np.searchsorted((0.05, 0.25, 0.5, 0.75), weight, side="right"))]


def _cut(word: str, size: int) -> str:
    return word if len(word) <= size else word[: max(1, size - 1)] + "…" * (size > 1)


def _legend() -> Text:
    return Text(_("weights: blank to 0.05   ░ to 0.25   ▒ to 0.5   ▓ to 0.75   █ more"), style="dim")


# ---- HTML


def html(maps: Maps, tokens: Sequence[str], source: Sequence[str] | None = None, sentence: int = 0) -> str:
    """Every head of one sentence as tables, for a page or a notebook's cell: IPython.display.HTML shows it."""
    from grader.report.html import STYLE

    parts = [_table(one) for one in maps_of(maps, tokens, source, sentence)]
    return f'{STYLE}{_SHADED}<div class="headway">{"".join(parts)}</div>'


def _table(one: Map) -> str:
    head = "".join(f"<th>{escape(key)}</th>" for key in one.keys)
    rows = "".join(
        f"<tr><th>{escape(query)}</th>{''.join(map(_cell, row))}</tr>"
        for query, row in zip(one.queries, one.weights, strict=True)
    )
    return (
        f'<table class="hw-map"><caption>{escape(one.title)}</caption><tr><th></th>{head}</tr>{rows}</table>'
    )


_SHADED = (
    "<style>.headway table.hw-map{display:inline-table;margin:0 1.5em 1em 0}"
    ".headway .hw-map caption{text-align:left;font-weight:600;padding-bottom:.2em}"
    ".headway .hw-map td{font-family:ui-monospace,monospace;text-align:right;padding:.15em .4em}"
    + "".join(f".headway .hw-map .hw-{n}{{background:rgba(70,130,220,{n * 0.06:.2f})}}" for n in range(1, 11))
    + "</style>"
)


def _cell(weight: float) -> str:
    """The number stands in the cell, so that nothing hangs on the colour."""
    share = min(1.0, max(0.0, float(weight)))
    return f'<td class="hw-{round(10 * share)}">{share:.2f}</td>'


# ---- matplotlib


def draw(maps: Maps, tokens: Sequence[str], source: Sequence[str] | None = None, sentence: int = 0) -> Any:
    """Every head of one sentence in one matplotlib figure, a row a layer. Raises ImportError with a sentence."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError(_("matplotlib is not installed; `show` draws the same in the terminal")) from None
    found = list(maps_of(maps, tokens, source, sentence))
    columns = max(len(_numbers(layer)[sentence]) for layers in maps.values() for layer in layers)
    rows = -(-len(found) // columns)
    figure = Figure(figsize=(2.6 * columns, 2.6 * rows), layout="constrained")
    for place, one in enumerate(found):
        axes = figure.add_subplot(rows, columns, place + 1)
        axes.imshow(one.weights, vmin=0, vmax=1, cmap="Blues")
        axes.set_title(one.title, fontsize=8)
        axes.set_xticks(range(len(one.keys)), one.keys, fontsize=7, rotation=60)
        axes.set_yticks(range(len(one.queries)), one.queries, fontsize=7)
    return figure

"""Show attention maps: queries from top to bottom, keys from left to right, a darker shade for a larger weight.

    from grader.report.maps import show
    show(attention_maps(encoder, tokens, None), ["the", "cat", "sat"])

Importing this imports no torch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rich.console import Console

from grader.bundle.safetensors import Array
from grader.report.picture import Cell, Grids, Panel, Picture, drawn
from grader.support.i18n import _
from grader.support.sanitize import sanitize

LONGEST = 12  # letters of a word beside a map


@dataclass
class Collected:
    """What `grader draw` asks a lesson for, and the pictures that it gets."""

    words: Sequence[str] = ()
    pictures: list[Picture] = field(default_factory=list)


_collecting: Collected | None = None


@contextmanager
def collecting(words: Sequence[str]) -> Iterator[Collected]:
    """Let `show` collect its pictures instead of printing them, and `sentence` return these words, if there are any."""
    global _collecting
    _collecting = Collected(words)
    try:
        yield _collecting
    finally:
        _collecting = None


def sentence(otherwise: str) -> list[str]:
    """Return the words that `grader draw --words` asks for, else those of `otherwise`."""
    asked = _collecting.words if _collecting else ()
    return list(asked or otherwise.split())


Maps = Mapping[str, Sequence[Any]]  # part, such as "cross" → one array per layer: (B, H, T, S)


def show(
    maps: Maps,
    tokens: Sequence[str],
    source: Sequence[str] | None = None,
    sentence: int = 0,
    console: Console | None = None,
    title: str = "",
    heads: Sequence[int] | None = None,
) -> None:
    """Print every head of one sentence; in a notebook, show it as HTML. See `pictures`."""
    found = list(pictures(maps, tokens, source, sentence, title, heads))
    if _collecting:
        _collecting.pictures += found
        return
    console = console or Console(highlight=False)
    if console.is_jupyter:
        from IPython.display import HTML, display

        from grader.report.html import sentence as fragment

        display(HTML(fragment(pictures=found)))
        return
    for picture in found:
        console.print(drawn(picture, console.width, words=console.is_dumb_terminal))


def pictures(
    maps: Maps,
    tokens: Sequence[str],
    source: Sequence[str] | None = None,
    sentence: int = 0,
    title: str = "",
    heads: Sequence[int] | None = None,
) -> Iterator[Picture]:
    """Yield one picture per layer, with all its heads, for one sentence of the batch.

    tokens, source: the words of the sentence; `source` has those of the encoder, for "cross". sentence: its index in
    the batch. title: what stands before the name of each layer. heads: the heads to show, in this order; default: all.

    Raises ValueError if the maps are not as `attention_maps` returns them, or if the number of words is wrong.
    """
    for part, layers in maps.items():
        for number, layer in enumerate(layers):
            plain = layer.detach().cpu().double().numpy() if hasattr(layer, "detach") else layer
            weights = np.asarray(plain, dtype=np.float64)
            if weights.ndim != 4:
                says = _("{part}, layer {number}: wrong shape {shape}, expected (B, H, T, S)")
                raise ValueError(says.format(part=part, number=number, shape=weights.shape))
            if not 0 <= sentence < len(weights):
                says = _("{part}, layer {number}: no sentence {sentence} in a batch of {size}")
                raise ValueError(says.format(part=part, number=number, sentence=sentence, size=len(weights)))
            rows = _labels(tokens, weights.shape[2], part)
            columns = _labels((source or ()) if part == "cross" else tokens, weights.shape[3], part)
            panels = (
                Panel(_("head {head}").format(head=head), _cells(weights[sentence, head]))
                for head in (range(weights.shape[1]) if heads is None else heads)
            )
            of_layer = _("{part} · layer {layer}").format(part=part, layer=number)
            about = f"{title} · {of_layer}" if title else of_layer
            yield Picture(about, Grids("", rows, "", columns, tuple(panels)))


def _cells(table: Array) -> tuple[tuple[Cell, ...], ...]:
    return tuple(tuple(Cell(f"{x:.2f}", min(1.0, max(0.0, float(x)))) for x in row) for row in table)


def _labels(words: Sequence[str], count: int, part: str) -> tuple[str, ...]:
    if not words:
        return tuple(map(str, range(count)))
    if len(words) != count:
        raise ValueError(
            _("{part}: got {words} words for {count} steps").format(part=part, words=len(words), count=count)
        )
    clean = (sanitize(word) or " " for word in words)
    return tuple(word if len(word) <= LONGEST else f"{word[: LONGEST - 1]}…" for word in clean)

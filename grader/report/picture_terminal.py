"""Draw a picture in a terminal: panels side by side if they fit, one below the other if not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from grader.report.picture_data import Bars, Cell, Chain, Grids, Panel, Picture, in_words, legend, shade_of
from grader.support.i18n import _

BLOCKS = " ░▒▓█"
WRONG, EDGE = "✗", "│"
GAP, BAR = 3, 24  # columns between panels, most columns of a bar


def drawn(picture: Picture, words: bool) -> RenderableType:
    """Return a picture as something that rich prints. words: as sentences, one per line."""
    return Text("\n".join(in_words(picture))) if words else _Drawn(picture)


@dataclass(frozen=True)
class _Drawn:
    picture: Picture

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(self.picture.title, style="bold")
        match self.picture.form:
            case Grids() as grids:
                yield from _grids(grids, options.max_width)
            case Chain() as chain:
                yield _chain(chain)
            case Bars() as bars:
                yield _bars(bars, options.max_width)
        for note in ("   ".join(legend(self.picture)), *self.picture.notes):
            if note:
                yield Text(note, style="dim")


def _grids(grids: Grids, width: int) -> Iterator[Table]:
    panels = [list(_panel(grids, panel)) for panel in grids.panels]
    names = [*[""] * (len(panels[0]) - len(grids.rows)), *grids.rows]  # none for the lines above the rows
    wide = max(map(cell_len, names)) + sum(GAP + max(line.cell_len for line in lines) for lines in panels)
    for group in [panels] if wide <= width else [[lines] for lines in panels]:
        table = Table.grid(padding=(0, GAP, 0, 0))
        table.add_column(justify="right", style="dim", no_wrap=True)
        for _panel_in_it in group:
            table.add_column(no_wrap=True)
        for name, *lines in zip(names, *group, strict=True):
            table.add_row(name, *lines)
        yield table


def _panel(grids: Grids, panel: Panel) -> Iterator[Text]:
    cells = [2 if cell.shade is not None else cell_len(cell.text) for row in panel.rows for cell in row]
    size = max(*cells, *map(cell_len, grids.columns), 0)
    edges = any(cell.edge for row in panel.rows for cell in row)
    yield Text(panel.title, style="bold")
    if any(grids.columns):
        names = "".join(f"{' ' * edges}{name.rjust(size)}  " for name in grids.columns)
        yield Text(names.rstrip(), style="dim")
    for row in panel.rows:
        yield Text.assemble(*(part for cell in row for part in _cell(cell, size, edges)))


def _cell(cell: Cell, size: int, edges: bool) -> tuple[str | tuple[str, str], ...]:
    text = cell.text if cell.shade is None else BLOCKS[shade_of(cell.shade)] * 2
    marked = f"{text.rjust(size)}{WRONG if cell.wrong else ' '}"
    return (EDGE if cell.edge else " " * edges), (marked, "red" if cell.wrong else ""), " "


def _chain(chain: Chain) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for link in chain.links:
        shape = Text(f"{link.shape} {WRONG}" if link.expected else link.shape)
        name = Text(f"{'→' if link.arrow else ' '} {link.name}")
        table.add_row(name, shape, style="red" if link.expected else "")
        if link.expected:
            table.add_row("", Text(f"{_('expected')} {link.expected}"), style="green")
    return table


def _bars(bars: Bars, width: int) -> Table:
    label = max(cell_len(name) for name, _row in bars.rows)
    values = max(cell_len(bar.text) for _name, row in bars.rows for bar in row)
    # 6: two columns before a bar, two between the bar and its value, two for the mark.
    size = max(1, min(BAR, (width - label) // len(bars.columns) - values - 6))
    named = any(bars.columns)
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(justify="right" if named else "left", no_wrap=True)
    for _column in bars.columns:
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
    if named:
        table.add_row("", *(part for name in bars.columns for part in (Text(name), "")), style="dim")
    for name, row in bars.rows:
        parts: list[Text] = [Text(name)]
        for bar in row:
            full = round(bar.share * size)
            mark = f" {WRONG}" if bar.wrong else "  "
            parts += [Text("█" * full + "░" * (size - full)), Text.assemble(bar.text, (mark, "red"))]
        table.add_row(*parts)
    return table

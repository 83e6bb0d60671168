"""Draw a picture in a terminal: panels side by side if they fit, one below the other if not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
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
        form, width = self.picture.form, options.max_width
        if isinstance(form, Grids):
            yield from _grids(form, width)
        else:
            yield from _chain(form, width) if isinstance(form, Chain) else _bars(form, width)
        for note in ("   ".join(legend(self.picture)), *self.picture.notes):
            if note:
                yield Text(note, style="dim")


def _grids(grids: Grids, width: int) -> Iterator[Text]:
    label = max(cell_len(name) for name in grids.rows)
    panels = [list(_panel(grids, panel)) for panel in grids.panels]
    wide = [max(line.cell_len for line in lines) for lines in panels]
    if label + sum(wide) + GAP * len(panels) <= width:
        yield from _side_by_side(grids, label, panels, wide)
        return
    for lines in panels:
        yield from _side_by_side(grids, label, [lines], [0])


def _side_by_side(
    grids: Grids, label: int, panels: Sequence[list[Text]], wide: Sequence[int]
) -> Iterator[Text]:
    # The lines above the rows, such as the titles of the panels, have no name.
    names = [*[""] * (len(panels[0]) - len(grids.rows)), *grids.rows]
    for number, name in enumerate(names):
        line = Text(name.rjust(label), style="dim", no_wrap=True, overflow="ellipsis")
        for lines, size in zip(panels, wide, strict=True):
            part = lines[number].copy()
            part.pad_right(max(0, size - part.cell_len))
            line.append(" " * GAP, style="not dim").append_text(part)
        line.rstrip()
        yield line


def _panel(grids: Grids, panel: Panel) -> Iterator[Text]:
    cells = [2 if cell.shade is not None else cell_len(cell.text) for row in panel.rows for cell in row]
    size = max(*cells, *map(cell_len, grids.columns), 0)
    edges = any(cell.edge for row in panel.rows for cell in row)
    yield Text(panel.title, style="bold not dim")
    if any(grids.columns):
        names = "".join(f"{' ' * edges}{name.rjust(size)}  " for name in grids.columns)
        yield Text(names.rstrip(), style="dim")
    for row in panel.rows:
        line = Text(style="not dim")
        for cell in row:
            if edges:
                line.append(EDGE if cell.edge else " ")
            line.append_text(_cell(cell, size)).append(" ")
        yield line


def _cell(cell: Cell, size: int) -> Text:
    text = cell.text if cell.shade is None else BLOCKS[shade_of(cell.shade)] * 2
    return Text(f"{text.rjust(size)}{WRONG if cell.wrong else ' '}", style="red" if cell.wrong else "")


def _chain(chain: Chain, width: int) -> Iterator[Text]:
    label = min(width // 2, max(cell_len(link.name) for link in chain.links))
    for link in chain.links:
        line = Text(f"{'→ ' if link.arrow else '  '}{link.name.ljust(label)}  {link.shape}")
        if link.expected:
            line.stylize("red")
            line.append(f" {WRONG}", style="red").append(f"\n  {' ' * label}  ")
            line.append(f"{_('expected')} {link.expected}", style="green")
        yield line


def _bars(bars: Bars, width: int) -> Iterator[Text]:
    label = max(cell_len(name) for name, _row in bars.rows)
    values = max(cell_len(bar.text) for _name, row in bars.rows for bar in row)
    # 6: two columns before a bar, two between the bar and its value, two for the mark.
    size = max(1, min(BAR, (width - label) // len(bars.columns) - values - 6))
    named = any(bars.columns)
    if named:
        names = "".join(f"  {name.ljust(size + values + 4)}" for name in bars.columns)
        yield Text(f"{' ' * label}{names}".rstrip(), style="dim")
    for name, row in bars.rows:
        line = Text(name.rjust(label) if named else name.ljust(label))
        for bar in row:
            full = round(bar.share * size)
            line.append(f"  {'█' * full}{'░' * (size - full)}  {bar.text}")
            line.append(f" {WRONG}" if bar.wrong else "  ", style="red")
            line.append(" " * (values - cell_len(bar.text)))
        line.rstrip()
        yield line

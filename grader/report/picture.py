"""A picture as plain data, in words, and drawn in a terminal. `picture.html.jinja` draws it in a page.

`grader/judge/pictures.py` and `maps.py` make pictures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import msgspec
from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from grader.support.i18n import _, ngettext

MOST_IN_WORDS = 8  # values
BLOCKS = " ░▒▓█"  # distinguishable without colour
SHADES = len(BLOCKS) - 1  # besides blank
WRONG, EDGE = "✗", "│"
GAP, BAR = 3, 24  # columns between panels, most columns of a bar


@dataclass(frozen=True)
class Cell:
    """A cell of a grid.

    shade: from 0 to 1, or None if it is not shaded. edge: the valid part of its row ends before it.
    """

    text: str
    shade: float | None = None
    wrong: bool = False
    edge: bool = False


@dataclass(frozen=True)
class Panel:
    """The cells of one grid, row by row."""

    title: str
    rows: tuple[tuple[Cell, ...], ...]


class Grids(msgspec.Struct, frozen=True, tag="grids", tag_field="kind"):
    """Grids with the same rows and columns, side by side: usually what is expected and what was computed.

    row, column: the names of the axes. rows, columns: the names of the single rows and columns.
    """

    row: str
    rows: tuple[str, ...]
    column: str
    columns: tuple[str, ...]
    panels: tuple[Panel, ...]


@dataclass(frozen=True)
class Link:
    """One value on the way from the input to the output.

    expected: the shape that it should have, if its shape is wrong. arrow: whether it was computed from the values above.
    """

    name: str
    shape: str
    expected: str = ""
    arrow: bool = True


class Chain(msgspec.Struct, frozen=True, tag="chain", tag_field="kind"):
    """Shapes in the order in which they were computed."""

    links: tuple[Link, ...]


@dataclass(frozen=True)
class Bar:
    """A bar: its length as a share from 0 to 1, and its value as text."""

    share: float
    text: str
    wrong: bool = False


class Bars(msgspec.Struct, frozen=True, tag="bars", tag_field="kind"):
    """Named rows of bars; the bars of one column have one scale."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Bar, ...]], ...]


Form = Grids | Chain | Bars


@dataclass(frozen=True)
class Picture:
    """A title, what to draw, and notes below it."""

    title: str
    form: Form
    notes: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """Return the form of the picture: "grids", "chain" or "bars"."""
        return type(self.form).__name__.lower()


def legend(picture: Picture, shades: bool = True) -> list[str]:
    """Return what the shades (if `shades`) and the line │ mean, each only if the picture has it."""
    if not isinstance(picture.form, Grids):
        return []
    cells = [cell for panel in picture.form.panels for row in panel.rows for cell in row]
    is_shaded = shades and any(cell.shade is not None for cell in cells)
    shown = [_("blank: 0; a fuller block: a larger value")] if is_shaded else []
    return shown + ([_("│: the end of the valid length")] if any(cell.edge for cell in cells) else [])


def shade_of(share: float) -> int:
    """Return the shade of a share: 0 for nothing at all, else from 1 to SHADES."""
    return 0 if share <= 0 else min(SHADES, 1 + int(share * SHADES))


def in_words(picture: Picture) -> list[str]:
    """Return the picture as sentences, for screen readers and terminals that cannot draw."""
    match picture.form:
        case Grids() as grids:
            parts = _of_grids(grids)
        case Chain(links):
            right, wrong = _("{name}: {shape}."), _("{name}: {shape}, wrong, expected {expected}.")
            parts = [(wrong if link.expected else right).format(**vars(link)) for link in links]
        case Bars(columns, rows):
            parts = [
                f"{', '.join(filter(None, (name, column)))}: {bar.text}{_(', wrong') if bar.wrong else ''}."
                for name, row in rows
                for column, bar in zip(columns, row, strict=True)
            ]
    return [f"{picture.title}.", *parts, *picture.notes]


def _of_grids(grids: Grids) -> list[str]:
    is_any_wrong = any(cell.wrong for panel in grids.panels for row in panel.rows for cell in row)
    found = list(_cells(grids, only_wrong=is_any_wrong))
    more = len(found) - MOST_IN_WORDS
    rest = ngettext("{n} more value is not listed.", "{n} more values are not listed.", more)
    if is_any_wrong:
        rest = ngettext("{n} more value is wrong.", "{n} more values are wrong.", more)
    return [*found[:MOST_IN_WORDS], rest.format(n=more)] if more > 0 else found


def _cells(grids: Grids, *, only_wrong: bool) -> Iterator[str]:
    for i, name in enumerate(grids.rows):
        is_padding = False
        for j, column in enumerate(grids.columns):
            cells = [(panel.title, panel.rows[i][j]) for panel in grids.panels]
            is_padding = is_padding or cells[0][1].edge
            if not only_wrong or any(cell.wrong for _title, cell in cells):
                at = (f"{grids.row} {name}".strip(), f"{grids.column} {column}".strip())
                where = ", ".join(filter(None, (*at, _("padding") if is_padding else "")))
                yield f"{where}: {', '.join(f'{title} {cell.text}' for title, cell in cells)}."


def drawn(picture: Picture, width: int, words: bool) -> RenderableType:
    """Return a picture as something that rich prints in so many columns. words: as sentences, one per line."""
    if words:
        return Text("\n".join(in_words(picture)))
    shades = True
    match picture.form:
        case Grids() as grids:
            tables, shades = _grids(grids, width)
        case Chain() as chain:
            tables = [_chain(chain)]
        case Bars() as bars:
            tables = [_bars(bars, width)]
    notes = filter(None, ("   ".join(legend(picture, shades)), *picture.notes))
    return Group(Text(picture.title, style="bold"), *tables, *(Text(note, style="dim") for note in notes))


def _grids(grids: Grids, width: int) -> tuple[list[Table], bool]:
    """Return the panels side by side if they fit, otherwise one below the other; and whether there are shades.

    Numbers are shown if they fit, with their shades if no value is wrong.
    """
    is_any_wrong = any(cell.wrong for panel in grids.panels for row in panel.rows for cell in row)
    for write in (_number if is_any_wrong else _both, _shade):
        panels = [list(_panel(grids, panel, write)) for panel in grids.panels]
        names = [*[""] * (len(panels[0]) - len(grids.rows)), *grids.rows]  # none for the lines above the rows
        wide = max(map(cell_len, names)) + sum(GAP + max(line.cell_len for line in lines) for lines in panels)
        if wide <= width:
            break
    tables = []
    for group in [panels] if wide <= width else [[lines] for lines in panels]:
        texts = (Column(no_wrap=True) for _lines in group)
        table = Table.grid(Column(justify="right", style="dim", no_wrap=True), *texts, padding=(0, GAP, 0, 0))
        for name, *lines in zip(names, *group, strict=True):
            table.add_row(name, *lines)
        tables.append(table)
    return tables, write is not _number


def _number(cell: Cell) -> str:
    return cell.text


def _shade(cell: Cell) -> str:
    return cell.text if cell.shade is None else BLOCKS[shade_of(cell.shade)] * 2


def _both(cell: Cell) -> str:
    return cell.text if cell.shade is None else f"{_shade(cell)} {cell.text}"


def _panel(grids: Grids, panel: Panel, write: Callable[[Cell], str]) -> Iterator[Text]:
    cells = (cell_len(write(cell)) for row in panel.rows for cell in row)
    size = max(*cells, *map(cell_len, grids.columns), 0)
    edges = any(cell.edge for row in panel.rows for cell in row)
    if panel.title:
        yield Text(panel.title, style="bold")
    if any(grids.columns):
        names = "".join(f"{' ' * edges}{name.rjust(size)}  " for name in grids.columns)
        yield Text(names.rstrip(), style="dim")
    for row in panel.rows:
        line = Text()
        for cell in row:
            line.append(EDGE if cell.edge else " " * edges)
            mark = WRONG if cell.wrong else " "
            line.append(f"{write(cell).rjust(size)}{mark}", style="red" if cell.wrong else "").append(" ")
        yield line


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
    names = Column(justify="right" if named else "left", no_wrap=True)
    parts_of_bars = (Column(no_wrap=True) for _part in 2 * bars.columns)  # a bar and its value
    table = Table.grid(names, *parts_of_bars, padding=(0, 2, 0, 0))
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

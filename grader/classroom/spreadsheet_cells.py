"""Cells of a table that a spreadsheet may open."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence


def csv_text(rows: Iterable[Sequence[str]]) -> str:
    """Return rows as CSV."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerows([plain(cell) for cell in row] for row in rows)
    return out.getvalue()


def plain(cell: str) -> str:
    """Put an apostrophe before a cell that begins like a formula, so that no spreadsheet computes it."""
    first = cell.lstrip(" \n\u00a0\u3000")[:1]
    begins_formula = first in tuple("=+-@\t\r|%\uff1d\uff0b\uff0d\uff20")  # the last four: full-width = + - @
    return f"'{cell}" if cell.strip() and begins_formula else cell

"""Cells of a table that a spreadsheet may open."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

# Where a program may begin a new cell, if it expects another separator than a comma.
_SEPARATORS = re.compile("([;\t\n\v\f\r\x85\u2028\u2029])")
_BEGINS = frozenset("=+-@|%\uff1d\uff0b\uff0d\uff20")  # the last four: full-width = + - @
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?(e[+-]?\d+)?", re.ASCII)


def csv_text(rows: Iterable[Sequence[str]]) -> str:
    """Return rows as CSV. Each cell is in quotes, except empty ones: in a gradebook these are no value."""
    return "".join(",".join(map(_quoted, row)) + "\r\n" for row in rows)


def _quoted(cell: str) -> str:
    return '"' + plain(cell).replace('"', '""') + '"' if cell else ""


def plain(cell: str) -> str:
    """Put an apostrophe before each part of a cell that begins like a formula, so that no spreadsheet computes it.

    Parts are what a spreadsheet with another separator takes for cells. Plain numbers stay as they are.
    """
    return "".join(f"'{part}" if _begins_formula(part) else part for part in _SEPARATORS.split(cell))


def _begins_formula(part: str) -> bool:
    first = next((char for char in part if not _is_skipped(char)), "")
    return first in _BEGINS and not _NUMBER.fullmatch(part)


def _is_skipped(char: str) -> bool:
    return char.isspace() or char == '"' or unicodedata.category(char) in ("Cc", "Cf")

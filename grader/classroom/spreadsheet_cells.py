"""Cells of a table that a spreadsheet may open."""

from __future__ import annotations


def plain(cell: str) -> str:
    """Put an apostrophe before a cell that begins like a formula, so that no spreadsheet computes it."""
    return (
        f"'{cell}"
        if cell.lstrip(" \n\u00a0\u3000")[:1] in tuple("=+-@\t\r|%\uff1d\uff0b\uff0d\uff20") and cell.strip()
        else cell
    )

"""The code cells of a notebook, as plain Python. Outputs, metadata and kernels are ignored."""

from __future__ import annotations

import json
import re

from grader.intake.syntax import parse
from grader.support.errors import BadData
from grader.support.i18n import _

# A line that only IPython understands: a magic, a shell line, help. It becomes `pass` on the same line.
_MAGIC = re.compile(r"^(?P<indent>\s*)(%{1,2}[A-Za-z_]|!|\?|[A-Za-z_][\w.\[\]]*\?{1,2}\s*$)")
# `files = !ls` becomes `files = None`.
_ASSIGNED = re.compile(r"^(?P<indent>\s*)(?P<target>[A-Za-z_][\w, ]*)=\s*(!|%[A-Za-z_])")
_FOREIGN_CELL = re.compile(
    r"^%%(bash|sh|script|html|javascript|js|latex|markdown|perl|ruby|svg|writefile|file|cmd|R)\b"
)
# A cell that begins with any other `%%` magic counts only if it parses as Python. The four magics that this pattern
# excludes are always followed by Python.
_CELL_OF_ANOTHER = re.compile(r"^%%(?!(time|timeit|capture|prun)\b)")
SURROGATE = re.compile("[\ud800-\udfff]")  # half a character, which JSON can express and UTF-8 cannot encode
MAX_MAGICS = 16  # lines of one cell that are replaced one by one; the cell is parsed again for each


def code_cells(text: str) -> list[tuple[int, str]]:
    """Return (number, source) of every code cell in order; numbers count all cells from 1, as editors show them.

    The source is as it was typed: see `plain_python`. Raises BadData if the text is no notebook.
    """
    cells = [(number, cell) for number, cell in enumerate(_cells(text), 1) if isinstance(cell, dict)]
    return [(number, _source(cell)) for number, cell in cells if _is_code(cell)]


def _cells(text: str) -> list[object]:
    try:
        book = json.loads(text)
    except RecursionError:
        raise BadData(_("it is nested too deeply")) from None
    except json.JSONDecodeError as error:
        raise BadData(_("line {line} is not JSON").format(line=error.lineno)) from None
    except ValueError:  # a number of thousands of digits
        raise BadData(_("it is not JSON")) from None
    match book:
        case {"cells": list(cells)}:
            return cells
        case {"worksheets": list(sheets)} if book.get("cells") is None:  # format 3
            parts = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
            return [cell for part in parts if isinstance(part, list) for cell in part]
    raise BadData(_("it has no list of cells"))


def _is_code(cell: dict[str, object]) -> bool:
    """Whether it is a cell of code, or was released as one for the student to write; its type may have changed."""
    match cell:
        case {"cell_type": "code"} | {"metadata": {"nbgrader": {"solution": True, "cell_type": "code"}}}:
            return True
    return False


def _source(cell: dict[str, object]) -> str:
    source = cell.get("source", cell.get("input", ""))  # "input" in format 3
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    return SURROGATE.sub("\ufffd", source) if isinstance(source, str) else ""


def plain_python(source: str) -> str:
    """Replace the syntax that only IPython understands, and keep every line in its place.

    Only lines at which Python cannot go on are replaced, so that a line in a string that looks like a magic stays.
    If Python stops at a line that is not a magic, the cell has a syntax error, and all magics are replaced.
    A cell in another language, such as `%%bash`, becomes empty lines.
    """
    # Python ends a line at \r, too.
    source = source.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    lines = source.split("\n")
    first = next((line for line in lines if line.strip()), "")
    if _FOREIGN_CELL.match(first):
        return "\n" * (len(lines) - 1)
    plain = _one_by_one(lines) or "\n".join(map(_plain_line, lines))
    if _CELL_OF_ANOTHER.match(first) and _stops_at(plain) is not None:
        return "\n" * (len(lines) - 1)
    return plain


def _one_by_one(lines: list[str]) -> str | None:
    """Replace one magic after another until the cell parses; return None if it never does."""
    lines = list(lines)
    for _attempt in range(MAX_MAGICS):
        at = _stops_at("\n".join(lines))
        if at is None:
            return "\n".join(lines)
        if not 0 < at <= len(lines) or _plain_line(lines[at - 1]) == lines[at - 1]:
            return None
        last = at
        while lines[last - 1].endswith("\\") and last < len(lines):
            last += 1  # a shell line that goes on below
        lines[at - 1 : last] = [_plain_line(lines[at - 1]), *[""] * (last - at)]
    return None


def _stops_at(source: str) -> int | None:
    """Return the line at which Python cannot go on; None if the source parses, 0 if the line is not known."""
    try:
        parse(source)
    except SyntaxError as error:
        return error.lineno or 0
    return None


def _plain_line(line: str) -> str:
    assigned = _ASSIGNED.match(line)
    if assigned:
        return f"{assigned['indent']}{assigned['target'].rstrip()} = None"
    magic = _MAGIC.match(line)
    return f"{magic['indent']}pass" if magic else line

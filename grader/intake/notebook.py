"""The code cells of a notebook, as plain Python. Outputs, metadata and kernels are ignored."""

from __future__ import annotations

import json
import re

# A line that only IPython understands: a magic, a shell line, help. It becomes `pass` on the same line.
_MAGIC = re.compile(r"^(?P<indent>\s*)(%{1,2}[A-Za-z_]|!|\?|[A-Za-z_][\w.\[\]]*\?{1,2}\s*$)")
_ASSIGNED = re.compile(r"^(?P<indent>\s*)(?P<target>[A-Za-z_][\w, ]*)=\s*(!|%[A-Za-z_])")
_FOREIGN_CELL = re.compile(r"^%%(bash|sh|script|html|javascript|js|latex|markdown|perl|ruby|svg|writefile|cmd|R)\b")


class NotANotebook(ValueError):
    """The text is no notebook; says why."""


def code_cells(text: str) -> list[tuple[int, str]]:
    """(number, source) of every code cell in order; numbers count all cells from 1, as editors show them.

    Raises NotANotebook.
    """
    try:
        notebook = json.loads(text)
    except RecursionError:
        raise NotANotebook("it is nested too deeply") from None
    except ValueError as error:
        line = getattr(error, "lineno", None)
        raise NotANotebook(f"line {line} is not JSON" if line else "it is not JSON") from None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if cells is None and isinstance(notebook, dict):  # format 3 keeps them in worksheets
        sheets = notebook.get("worksheets")
        if isinstance(sheets, list):
            cells = [c for sheet in sheets if isinstance(sheet, dict) for c in sheet.get("cells") or []]
    if not isinstance(cells, list):
        raise NotANotebook("it has no list of cells")
    out = []
    for number, cell in enumerate(cells, 1):
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            out.append((number, plain_python(_source(cell))))
    return out


def _source(cell: dict[str, object]) -> str:
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    return source if isinstance(source, str) else ""


def plain_python(source: str) -> str:
    """IPython's own syntax taken out, every line kept in its place.

    A line inside a string that looks like a magic is left alone: only what does not parse is changed.
    """
    source = source.replace("\r\n", "\n").replace("\0", "")
    lines = source.split("\n")
    first = next((line for line in lines if line.strip()), "")
    if _FOREIGN_CELL.match(first):
        return "\n" * (len(lines) - 1)
    if _parses(source):
        return source
    return "\n".join(_plain_line(line) for line in lines)


def _parses(source: str) -> bool:
    try:
        compile(source, "cell", "exec", flags=0x400, dont_inherit=True)  # PyCF_ONLY_AST
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _plain_line(line: str) -> str:
    assigned = _ASSIGNED.match(line)
    if assigned:
        return f"{assigned['indent']}{assigned['target'].rstrip()} = None"
    magic = _MAGIC.match(line)
    return f"{magic['indent']}pass" if magic else line

"""Turn what a notebook's kernel has executed into a submission: the latest definition of a name counts.

In a long session, a cell runs many times and an answer has many versions. A version is skipped if a later one
replaces it and no cell in between mentions it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from grader.intake.notebook import plain_python
from grader.intake.read import Unit
from grader.intake.syntax import CannotParse, parse

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def executed_units(history: Sequence[str]) -> tuple[Unit, ...]:
    """Return the cells of a session in the order of execution, named by their execution counts.

    history: sources as typed, by execution count; entry 0 is empty. A cell that does not parse never ran.
    """
    cells = [(number, plain_python(source)) for number, source in enumerate(history)]
    parsed = [(number, source, _parsed(source)) for number, source in cells]
    ran = [(number, source, tree) for number, source, tree in parsed if tree is not None and tree.body]
    ran = _first_and_last_runs(ran)
    kept = [cell for place, cell in enumerate(ran) if not _is_replaced(cell[2], ran[place + 1 :])]
    return tuple(Unit(f"cell [{number}]", source) for number, source, _tree in kept)


def _parsed(source: str) -> ast.Module | None:
    try:
        return parse(source)
    except CannotParse:
        return None


Cell = tuple[int, str, ast.Module]  # execution count, source, and its syntax tree


def _first_and_last_runs(cells: Sequence[Cell]) -> list[Cell]:
    """Return only the first and the last run of each cell. For definitions, the last run replaces those in between."""
    first = {source: number for number, source, _tree in reversed(cells)}
    last = {source: number for number, source, _tree in cells}
    return [cell for cell in cells if cell[0] in (first[cell[1]], last[cell[1]])]


def _is_replaced(tree: ast.Module, later: Sequence[Cell]) -> bool:
    """Return whether a later cell defines the same names again before any other cell mentions them.

    Cells that only call `check` do not count. Both cells must consist of definitions; the later one may also import.
    """
    names = {node.name for node in tree.body if isinstance(node, _DEFINITIONS)}
    if not names or not all(isinstance(node, _DEFINITIONS) for node in tree.body):
        return False
    mentions = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b")
    for _number, source, other in later:
        defined = {node.name for node in other.body if isinstance(node, _DEFINITIONS)}
        if names <= defined:
            return all(isinstance(node, (*_DEFINITIONS, ast.Import, ast.ImportFrom)) for node in other.body)
        if mentions.search(source) and not _is_check(other):
            return False
    return False


def _is_check(tree: ast.Module) -> bool:
    """Return whether a cell is only a call such as `check("name")`."""
    node = tree.body[0] if len(tree.body) == 1 else None
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "check"

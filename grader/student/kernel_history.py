"""What a notebook's kernel has executed, as a submission: the latest definition of a name wins.

A session is long: the same cell is run many times, and an answer has ten versions. Versions that a later one
replaces are left out, as far as nothing in between could have used them.
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
    """The cells of a session in the order of their execution, under the numbers that stand beside them.

    history: sources as typed; its first entry is number 0 and empty. What does not parse never ran.
    """
    cells = [(number, plain_python(source)) for number, source in enumerate(history)]
    parsed = [(number, source, _parsed(source)) for number, source in cells]
    ran = [(number, source, tree) for number, source, tree in parsed if tree is not None and tree.body]
    ran = _once(ran)
    kept = [cell for place, cell in enumerate(ran) if not _replaced(cell[2], ran[place + 1 :])]
    return tuple(Unit(f"cell [{number}]", source) for number, source, _tree in kept)


def _parsed(source: str) -> ast.Module | None:
    try:
        return parse(source)
    except CannotParse:
        return None


Cell = tuple[int, str, ast.Module]


def _once(cells: Sequence[Cell]) -> list[Cell]:
    """Of a cell that was run many times, the first and the last run: what stands between was done again."""
    first = {source: number for number, source, _tree in reversed(cells)}
    last = {source: number for number, source, _tree in cells}
    return [cell for cell in cells if cell[0] in (first[cell[1]], last[cell[1]])]


def _replaced(tree: ast.Module, later: Sequence[Cell]) -> bool:
    """Whether a cell only defines what a later cell defines anew, before anything else speaks of it."""
    names = {node.name for node in tree.body if isinstance(node, _DEFINITIONS)}
    if not names or not all(isinstance(node, _DEFINITIONS) for node in tree.body):
        return False
    speaks = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b")
    for _number, source, other in later:
        defined = {node.name for node in other.body if isinstance(node, _DEFINITIONS)}
        if names <= defined:
            return all(isinstance(node, (*_DEFINITIONS, ast.Import, ast.ImportFrom)) for node in other.body)
        if speaks.search(source) and not _is_check(other):
            return False
    return False


def _is_check(tree: ast.Module) -> bool:
    """A cell that is nothing but `check("name")`."""
    node = tree.body[0] if len(tree.body) == 1 else None
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "check"

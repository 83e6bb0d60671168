"""Find the names of a file that a definition needs, from the syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.intake.customary_names import bound_by
from grader.intake.names import Names, statements
from grader.intake.read import Submission
from grader.intake.syntax import CannotParse, parse


def needs(submission: Submission, names: Names, name: str) -> frozenset[str]:
    """The names that a definition uses, and those that the file's own definitions among them use."""
    lines = {unit.name: _by_line(unit.source) for unit in submission.units}
    found = {name}
    waiting = [name]
    while waiting:
        known = names.definitions.get(waiting.pop())
        if known is None or known.unit not in lines:
            continue
        used = lines[known.unit].pop(known.line, [])  # all names of a line need the same
        new = {free for node in used for free in _free(node)} - found
        found |= new
        waiting += new
    return frozenset(found)


def _by_line(source: str) -> dict[int, list[ast.stmt]]:
    """The statements that may be definitions, by the line on which they begin."""
    try:
        body = parse(source).body
    except CannotParse:
        return {}
    lines: dict[int, list[ast.stmt]] = {}
    for node in statements(body):
        lines.setdefault(node.lineno, []).append(node)
    return lines


def _free(node: ast.AST) -> Iterator[str]:
    """The names that a node uses, without the variables of functions."""
    waiting: list[tuple[ast.AST, frozenset[str]]] = [(node, frozenset())]
    while waiting:
        part, own = waiting.pop()
        if isinstance(part, ast.Name):
            yield from [part.id] if part.id not in own else []
        elif isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            body = part.body if isinstance(part.body, list) else [part.body]
            nodes = [*ast.walk(part)]
            inner = own | {name for inside in nodes for name in bound_by(inside)}
            inner -= {name for inside in nodes if isinstance(inside, ast.Global) for name in inside.names}
            waiting += [(child, inner) for child in body]
            rest = dict.fromkeys(ast.iter_child_nodes(part)).keys() - set(body)
            waiting += [(child, own) for child in rest]
        else:
            waiting += [(child, own) for child in ast.iter_child_nodes(part)]

"""Find the names of a file that a definition needs, from the syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import lru_cache

from grader.intake.customary_names import bound_by
from grader.intake.names import Names, statements
from grader.intake.read import Submission, Unit
from grader.intake.syntax import CannotParse, children, parse, walk


def needs(submission: Submission, names: Names, name: str) -> frozenset[str]:
    """Return `name`, the names that its definition uses, those that the definitions of these use, and so on."""
    uses = _uses(submission.units)
    found = {name}
    waiting = [name]
    while waiting:
        known = names.definitions.get(waiting.pop())
        if known is not None:
            new = uses.on(known.unit, known.line) - found
            found |= new
            waiting += new
    return frozenset(found)


class _Uses:
    """The names that the statements of a file use."""

    def __init__(self, units: Iterable[Unit]):
        self._lines = {unit.name: _by_line(unit.source) for unit in units}
        self._found: dict[tuple[str, int], frozenset[str]] = {}

    def on(self, unit: str, line: int) -> frozenset[str]:
        """Return the names that the statements beginning on a line use. Each name defined there needs them all."""
        if (unit, line) not in self._found:
            nodes = self._lines.get(unit, {}).get(line, ())
            self._found[unit, line] = frozenset(name for node in nodes for name in _free(node))
        return self._found[unit, line]


_uses = lru_cache(maxsize=2)(_Uses)  # asked for by each exercise of a submission


def _by_line(source: str) -> dict[int, list[ast.stmt]]:
    """Return the statements that may be definitions, by the line on which they begin."""
    try:
        body = parse(source).body
    except CannotParse:
        return {}
    lines: dict[int, list[ast.stmt]] = {}
    for node in statements(body):
        lines.setdefault(node.lineno, []).append(node)
    return lines


def _free(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node uses, without parameters and local variables of functions."""
    waiting: list[tuple[ast.AST, frozenset[str]]] = [(node, frozenset())]
    while waiting:
        part, own = waiting.pop()
        if isinstance(part, ast.Name):
            if part.id not in own:
                yield part.id
        elif isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            body = part.body if isinstance(part.body, list) else [part.body]
            nodes = [*walk(part)]
            inner = own | {name for inside in nodes for name in bound_by(inside)}
            inner -= {name for inside in nodes if isinstance(inside, ast.Global) for name in inside.names}
            waiting += [(child, inner) for child in body]
            rest = dict.fromkeys(children(part)).keys() - set(body)  # decorators, defaults, annotations
            waiting += [(child, own) for child in rest]
        else:
            waiting += [(child, own) for child in children(part)]

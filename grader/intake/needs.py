"""Find the names that a file needs: those that a definition uses, and those that the file uses and never binds."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from grader.intake.names import Names, statements
from grader.intake.read import Submission, Unit
from grader.intake.syntax import children, parse, walk

# Customary names that files often use without their import.
IMPORTS = {
    "torch": "import torch",
    "nn": "from torch import nn",
    "F": "import torch.nn.functional as F",
    "Variable": "from torch.autograd import Variable",
    "math": "import math",
    "np": "import numpy as np",
    "d2l": "from d2l import torch as d2l",
    "plt": "from matplotlib import pyplot as plt",
}
UNIT = "added imports"  # the name of the unit with the missing imports


def missing_imports(submission: Submission, blocks: Iterable[str]) -> dict[str, str]:
    """Return name → its import, for names that a submission uses and binds nowhere.

    Return {} if the submission has `import *`, because that may bind any name.
    blocks: the building blocks that may be offered, besides the customary names.
    """
    unbound = _unbound(submission.units)
    offered = IMPORTS | {block: f"from grader.given import {block}" for block in blocks}
    return {name: line for name, line in offered.items() if name in unbound}


def first_use(submission: Submission, name: str) -> tuple[str, int]:
    """Return the unit and the line where a submission first uses a name that it binds nowhere."""
    return _unbound(submission.units)[name]


def units_to_run(submission: Submission, blocks: Iterable[str] = ()) -> tuple[Unit, ...]:
    """Return the units of a submission, after one that imports the missing names if there are any."""
    lines = missing_imports(submission, blocks).values()
    return (Unit(UNIT, "\n".join(lines)), *submission.units) if lines else submission.units


@lru_cache(maxsize=8)
def _unbound(units: tuple[Unit, ...]) -> dict[str, tuple[str, int]]:
    """Return name → the unit and the line of its first use, for names that nothing binds; {} if there is `import *`."""
    used: dict[str, tuple[str, int]] = {}
    bound: set[str] = set()
    for unit in units:
        try:
            nodes = walk(parse(unit.source))
        except SyntaxError:
            continue
        for node in nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                first, line = used.setdefault(node.id, (unit.name, node.lineno))
                if first == unit.name and node.lineno < line:  # `walk` has no particular order
                    used[node.id] = (first, node.lineno)
            else:
                bound.update(bound_by(node))
    return {} if "*" in bound else {name: place for name, place in used.items() if name not in bound}


def bound_by(node: ast.AST) -> list[str]:
    """Return the names that one node binds, in any scope; "*" for `import *`."""
    names = _BINDS.get(type(node))
    return [] if names is None else names(node)


def _of_import(node: Any) -> list[str]:
    return [alias.asname or alias.name.partition(".")[0] for alias in node.names]


def _of_optional_name(node: Any) -> list[str]:
    return [node.name] if node.name else []


_BINDS: Mapping[type, Callable[[Any], list[str]]] = {
    ast.Import: _of_import,
    ast.ImportFrom: _of_import,
    ast.FunctionDef: _of_optional_name,
    ast.AsyncFunctionDef: _of_optional_name,
    ast.ClassDef: _of_optional_name,
    ast.arg: lambda node: [node.arg],
    ast.Name: lambda node: [] if isinstance(node.ctx, ast.Load) else [node.id],
    ast.ExceptHandler: _of_optional_name,
    ast.MatchAs: _of_optional_name,
    ast.MatchStar: _of_optional_name,
    ast.MatchMapping: lambda node: [node.rest] if node.rest else [],
}


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
    try:
        body = parse(source).body
    except SyntaxError:
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

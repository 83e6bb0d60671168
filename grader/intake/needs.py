"""Find the names that a file needs: those that a definition uses, and those that the file uses and never binds."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

from grader.intake.names import Names
from grader.intake.read import Submission, Unit
from grader.intake.syntax import parse, statements

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
            nodes = ast.walk(parse(unit.source))
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


_BINDS: Mapping[type, Callable[[Any], list[str]]] = {
    **dict.fromkeys(
        (ast.Import, ast.ImportFrom),
        lambda node: [alias.asname or alias.name.partition(".")[0] for alias in node.names],
    ),
    **dict.fromkeys(
        (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar),
        lambda node: [node.name] if node.name else [],
    ),
    ast.arg: lambda node: [node.arg],
    ast.Name: lambda node: [] if isinstance(node.ctx, ast.Load) else [node.id],
    ast.MatchMapping: lambda node: [node.rest] if node.rest else [],
}


def needs(submission: Submission, names: Names, name: str) -> frozenset[str]:
    """Return `name`, the names that its definition uses, those that the definitions of these use, and so on."""
    statements_on = _statements_on(submission.units)
    found, waiting = {name}, [name]
    read: set[tuple[str, int]] = set()
    while waiting:
        known = names.definitions.get(waiting.pop())
        if known is not None and (place := (known.unit, known.line)) not in read:
            read.add(place)
            new = {used for node in statements_on.get(place, ()) for used in _free(node)} - found
            found |= new
            waiting += new
    return frozenset(found)


@lru_cache(maxsize=2)  # asked for by each exercise of a submission
def _statements_on(units: Iterable[Unit]) -> Mapping[tuple[str, int], list[ast.stmt]]:
    """Return unit and line → the statements that begin there. Each name defined there needs what they all use."""
    found: dict[tuple[str, int], list[ast.stmt]] = {}
    for unit in units:
        with suppress(SyntaxError):
            for node in statements(parse(unit.source).body):
                found.setdefault((unit.name, node.lineno), []).append(node)
    return found


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
            nodes = [*ast.walk(part)]
            inner = own | {name for inside in nodes for name in bound_by(inside)}
            inner -= {name for inside in nodes if isinstance(inside, ast.Global) for name in inside.names}
            waiting += [(child, inner) for child in body]
            rest = dict.fromkeys(ast.iter_child_nodes(part)).keys() - set(
                body
            )  # decorators, defaults, annotations
            waiting += [(child, own) for child in rest]
        else:
            waiting += [(child, own) for child in ast.iter_child_nodes(part)]

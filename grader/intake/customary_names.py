"""Customary names, such as `nn` and `masked_softmax`, that a file uses and never binds."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import lru_cache

from grader.intake.read import Submission, Unit
from grader.intake.syntax import CannotParse, parse

IMPORTS = {
    "torch": "import torch",
    "nn": "from torch import nn",
    "F": "from torch.nn import functional as F",
    "Variable": "from torch.autograd import Variable",
    "math": "import math",
    "np": "import numpy as np",
    "d2l": "from d2l import torch as d2l",
    "plt": "from matplotlib import pyplot as plt",
}
UNIT = "added imports"  # the name of the unit that binds them


def missing_imports(submission: Submission, blocks: Iterable[str] = ()) -> dict[str, str]:
    """Name → its import, for names that a submission uses and binds nowhere. After `import *` this is not known.

    blocks: the building blocks that may be offered, besides the customary names.
    """
    unbound = _unbound(submission.units)
    offered = IMPORTS | {block: f"from grader.given import {block}" for block in blocks}
    return {name: line for name, line in offered.items() if name in unbound}


def units_to_run(submission: Submission, blocks: Iterable[str] = ()) -> tuple[Unit, ...]:
    """The units of a submission, after one that imports the missing names if there are any."""
    lines = missing_imports(submission, blocks).values()
    return (Unit(UNIT, "\n".join(lines)), *submission.units) if lines else submission.units


@lru_cache(maxsize=8)
def _unbound(units: tuple[Unit, ...]) -> frozenset[str]:
    used: set[str] = set()
    bound: set[str] = set()
    for node in _nodes(units):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            used.add(node.id)
        else:
            bound |= set(bound_by(node))
    return frozenset() if "*" in bound else frozenset(used - bound)


def _nodes(units: Iterable[Unit]) -> Iterator[ast.AST]:
    for unit in units:
        try:
            yield from ast.walk(parse(unit.source))
        except CannotParse:
            continue


def bound_by(node: ast.AST) -> list[str]:
    """Return the names that one node binds, in any scope; "*" for `import *`."""
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [alias.asname or alias.name.partition(".")[0] for alias in node.names]
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, ast.arg):
        return [node.arg]
    if isinstance(node, ast.Name):
        return [] if isinstance(node.ctx, ast.Load) else [node.id]
    if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        return [node.name] if node.name else []
    if isinstance(node, ast.MatchMapping):
        return [node.rest] if node.rest else []
    return []

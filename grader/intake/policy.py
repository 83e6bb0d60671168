"""Calls that an exercise is about, found in the text of an answer to it. Evidence for a person, no proof.

Only the exercise's own definition counts and what it leads to: a cell that compares an answer with
`nn.MultiheadAttention` is good practice.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache

from grader.intake.parsed import parsed
from grader.intake.read import Submission, Unit

_ROOT = "torch"


@dataclass(frozen=True)
class Use:
    """`call` is the exercise's own word for it, as in `forbids`."""

    call: str
    unit: str
    line: int


def uses(submission: Submission, name: str, forbids: Sequence[str]) -> list[Use]:
    """Which of `forbids` the definition of `name` uses, each where it is first seen."""
    if not any(_last_name(call) in unit.source for call in forbids for unit in submission.units):
        return []
    aliases, statements = _outline(submission.units)
    found: dict[str, Use] = {}
    for unit, node in _reached(name, statements):
        for path, line in _paths(node, aliases):
            for call in forbids:
                if is_named(path, call):
                    found.setdefault(call, Use(call, unit, line))
    return list(found.values())


def _last_name(call: str) -> str:
    """What must stand in a text that uses a call: "Transformer" of "nn.Transformer*"."""
    return call.rpartition(".")[2].partition("*")[0]


def is_named(path: str, call: str) -> bool:
    """Whether a dotted path of torch is the call that "nn.MultiheadAttention" or "nn.Transformer*" means."""
    root, *rest = path.split(".")
    last = call.rpartition(".")[2]
    return root == _ROOT and any(fnmatchcase(part, last) for part in rest)


_Statements = Mapping[str, list[tuple[str, ast.stmt]]]


@lru_cache(maxsize=2)  # asked for by each exercise of a submission
def _outline(units: tuple[Unit, ...]) -> tuple[Mapping[str, str], _Statements]:
    """What every imported name stands for, and the top-level statements that bind each name."""
    trees = list(_trees(units))
    aliases = {local: path for _, tree in trees for local, path in _imported(tree)}
    statements: dict[str, list[tuple[str, ast.stmt]]] = {}
    for unit, tree in trees:
        for node in tree.body:
            for bound in _binds(node):
                statements.setdefault(bound, []).append((unit, node))
    return aliases, statements


def _trees(units: Iterable[Unit]) -> Iterator[tuple[str, ast.Module]]:
    for unit in units:
        with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            yield unit.name, parsed(unit.source)


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Local name → dotted path, for every import wherever it stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield (alias.asname, alias.name) if alias.asname else (alias.name.split(".")[0],) * 2
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _binds(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    targets = (
        node.targets
        if isinstance(node, ast.Assign)
        else [node.target]
        if isinstance(node, ast.AnnAssign)
        else []
    )
    return [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]


def _reached(
    name: str, statements: Mapping[str, list[tuple[str, ast.stmt]]]
) -> Iterator[tuple[str, ast.stmt]]:
    """The statements that define `name`, and those that define what these speak of."""
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        for unit, node in statements.get(current, ()):
            yield unit, node
            waiting += [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]


def _paths(node: ast.AST, aliases: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    for part in ast.walk(node):
        if isinstance(part, (ast.Name, ast.Attribute, ast.Call)):
            path = _path(part, aliases)
            if path is not None:
                yield path, part.lineno


def _path(node: ast.expr, aliases: Mapping[str, str]) -> str | None:
    """The dotted path that an expression names: `F.softmax`, `getattr(nn, "Linear")`, `sdpa`."""
    if isinstance(node, ast.Name):
        return aliases.get(node.id)
    if isinstance(node, ast.Attribute):
        return _below(_path(node.value, aliases), node.attr)
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "getattr"
        and len(node.args) > 1
    ):
        name = node.args[1]
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            return _below(_path(node.args[0], aliases), name.value)
    return None


def _below(path: str | None, name: str) -> str | None:
    return None if path is None else f"{path}.{name}"

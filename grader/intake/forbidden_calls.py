"""Find forbidden calls in the text of an answer. This is a hint for a person, not a proof.

Only the definition of the exercise counts, and the definitions that it uses: to compare an answer with
`nn.MultiheadAttention` in another cell is good practice.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache

from grader.intake.limits import MAX_DOTTED_NAMES
from grader.intake.read import Submission, Unit
from grader.intake.syntax import parse

_ROOT = "torch"
# Characters that are kept of a module's name, and of each name that is imported from it. The path of each imported name
# repeats the module's name, so long names would take much memory.
_MAX_PATH = 400


@dataclass(frozen=True)
class Use:
    """A use of a forbidden call. `call` is spelled as in `forbids` of the exercise."""

    call: str
    unit: str
    line: int


def uses(submission: Submission, name: str, forbids: Sequence[str]) -> list[Use]:
    """Return the calls of `forbids` that the definition of `name` uses, each with one place."""
    # The words that a text must contain to use a call: "Transformer" of "nn.Transformer*".
    words = {call.rpartition(".")[2].partition("*")[0] for call in forbids}
    if not any(word in unit.source for word in words for unit in submission.units):
        return []
    aliases, statements = _outline(submission.units)
    found: dict[str, Use] = {}
    for unit, node in _reached(name, statements):
        parts = (p for p in ast.walk(node) if isinstance(p, (ast.Name, ast.Attribute, ast.Call)))
        for part in parts:
            path = _path(part, aliases)
            for call in forbids:
                if path is not None and is_named(path, call):
                    found.setdefault(call, Use(call, unit, part.lineno))
    return list(found.values())


def is_named(path: str, call: str) -> bool:
    """Whether a dotted path of torch matches "nn.MultiheadAttention" or a pattern such as "nn.Transformer*".

    Only the last name of `call` is compared, with each name of the path.
    """
    root, *rest = path.split(".")
    last = call.rpartition(".")[2]
    return root == _ROOT and any(fnmatchcase(part, last) for part in rest)


_Statements = Mapping[str, list[tuple[str, ast.stmt]]]


@lru_cache(maxsize=2)  # asked for by each exercise of a submission
def _outline(units: tuple[Unit, ...]) -> tuple[Mapping[str, str], _Statements]:
    """Return name → dotted path for imported names, and name → the top-level statements that bind it."""
    trees = []
    for one in units:
        with suppress(SyntaxError):
            trees.append((one.name, parse(one.source)))
    aliases = {local: path for _, tree in trees for local, path in _imported(tree)}
    statements: dict[str, list[tuple[str, ast.stmt]]] = {}
    for unit, tree in trees:
        for node in tree.body:
            for bound in _binds(node):
                statements.setdefault(bound, []).append((unit, node))
    return aliases, statements


def _imported(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield local name → dotted path, for every import anywhere in a source."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                package = alias.name.partition(".")[0]
                yield (alias.asname, alias.name) if alias.asname else (package, package)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module[:_MAX_PATH]}.{alias.name[:_MAX_PATH]}"


def _binds(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    return [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]


def _reached(name: str, statements: _Statements) -> Iterator[tuple[str, ast.stmt]]:
    """Yield the statements that define `name`, and those that define the names in these. Each statement comes once."""
    seen: set[str] = set()
    reached: set[ast.stmt] = set()
    waiting = [name]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        for unit, node in statements.get(current, ()):
            if node not in reached:
                reached.add(node)
                yield unit, node
                waiting += [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]


def _path(node: ast.expr, aliases: Mapping[str, str]) -> str | None:
    """Return the dotted path of `F.softmax`, `getattr(nn, "Linear")` or an imported name; else None."""
    names: list[str] = []
    while not isinstance(node, ast.Name):
        below = _step(node)
        if below is None or len(names) == MAX_DOTTED_NAMES:
            return None
        node, name = below
        names.append(name)
    root = aliases.get(node.id)
    return None if root is None else ".".join([root, *reversed(names)])


def _step(node: ast.expr) -> tuple[ast.expr, str] | None:
    """Return the object and the attribute of `x.name` and `getattr(x, "name")`."""
    if isinstance(node, ast.Attribute):
        return node.value, node.attr
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
        name = node.args[1] if len(node.args) > 1 else None
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            return node.args[0], name.value
    return None

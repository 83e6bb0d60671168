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

from grader.intake.read import Submission, Unit
from grader.intake.syntax import MAX_DOTTED_NAMES, parse

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
    # The last names, of which a text must contain one up to its `*`: "Transformer*" of "nn.Transformer*".
    patterns = {call: call.rpartition(".")[2] for call in forbids}
    words = [pattern.partition("*")[0] for pattern in patterns.values()]
    if not any(word in unit.source for word in words for unit in submission.units):
        return []
    aliases, statements = _outline(submission.units)
    found: dict[str, Use] = {}
    for unit, node in _reached(name, statements):
        for part in ast.walk(node):
            root, *rest = _path(part, aliases)
            for call, pattern in patterns.items() if root == _ROOT else ():
                if isinstance(part, ast.expr) and any(fnmatchcase(word, pattern) for word in rest):
                    found.setdefault(call, Use(call, unit, part.lineno))
    return list(found.values())


_Statements = Mapping[str, list[tuple[str, ast.stmt]]]


@lru_cache(maxsize=2)  # asked for by each exercise of a submission
def _outline(units: tuple[Unit, ...]) -> tuple[Mapping[str, str], _Statements]:
    """Return name → dotted path for imported names, and name → the top-level statements that bind it."""
    aliases: dict[str, str] = {}
    statements: dict[str, list[tuple[str, ast.stmt]]] = {}
    for unit in units:
        with suppress(SyntaxError):
            tree = parse(unit.source)
            for node in ast.walk(tree):
                aliases.update(_imported(node))
            for statement in tree.body:
                for bound in _binds(statement):
                    statements.setdefault(bound, []).append((unit.name, statement))
    return aliases, statements


def _imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield local name → dotted path for the names that an import binds."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            package = alias.name.partition(".")[0]
            yield (alias.asname, alias.name) if alias.asname else (package, package)
    elif isinstance(node, ast.ImportFrom) and node.module:
        for alias in node.names:
            yield alias.asname or alias.name, f"{node.module[:_MAX_PATH]}.{alias.name[:_MAX_PATH]}"


def _binds(node: ast.stmt) -> list[str]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [node.name]
        case ast.Assign(targets=targets):
            return [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)]
        case ast.AnnAssign(target=target):
            return [part.id for part in ast.walk(target) if isinstance(part, ast.Name)]
    return []


def _reached(name: str, statements: _Statements) -> Iterator[tuple[str, ast.stmt]]:
    """Yield the statements that define `name`, and those that define the names in these. Each statement comes once."""
    seen: set[str | ast.stmt] = set()
    waiting = [name]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        for unit, node in statements.get(current, ()):
            if node not in seen:
                seen.add(node)
                yield unit, node
                waiting += [part.id for part in ast.walk(node) if isinstance(part, ast.Name)]


def _path(node: ast.AST, aliases: Mapping[str, str]) -> list[str]:
    """Return the names in the path of `F.softmax`, `getattr(nn, "Linear")` or an imported name; [""] for other code."""
    names: list[str] = []
    while not isinstance(node, ast.Name) and len(names) < MAX_DOTTED_NAMES:
        match node:
            case ast.Attribute(below, name) | ast.Call(
                ast.Name("getattr"), [below, ast.Constant(str(name)), *_]
            ):
                names.append(name)
                node = below
            case _:
                return [""]
    root = aliases.get(node.id, "") if isinstance(node, ast.Name) else ""
    return [*root.split("."), *reversed(names)]

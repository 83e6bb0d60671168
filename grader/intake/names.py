"""Which exercises a submission defines, under which names, and whether they were touched at all."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from grader.intake.read import Submission


@dataclass(frozen=True)
class Definition:
    """A top-level definition: its syntax tree and its place."""

    name: str
    unit: str
    line: int
    tree: str
    kind: str  # "def", "class" or "name"


@dataclass(frozen=True)
class Names:
    """All top-level definitions of a submission; the last of a name wins. `broken`: units with bad syntax."""

    definitions: Mapping[str, Definition]
    broken: Mapping[str, str] = field(default_factory=dict)


def read_names(submission: Submission) -> Names:
    """Parse every unit. A unit that does not parse is noted, the others count."""
    found: dict[str, Definition] = {}
    broken: dict[str, str] = {}
    for unit in submission.units:
        try:
            tree = ast.parse(unit.source)
            for node in _statements(tree.body):
                for name, kind in _bound(node):
                    found[name] = Definition(name, unit.name, node.lineno, ast.dump(node), kind)
        except SyntaxError as error:
            broken[unit.name] = f"line {error.lineno}: {error.msg}"
        except (ValueError, RecursionError, MemoryError) as error:
            broken[unit.name] = f"{type(error).__name__}: too deeply nested to read"
    return Names(found, broken)


def _statements(body: Iterable[ast.stmt]) -> Iterable[ast.stmt]:
    """Top-level statements, and those inside `if` and `try` at the top level."""
    for node in body:
        yield node
        if isinstance(node, ast.If):
            yield from _statements([*node.body, *node.orelse])
        elif isinstance(node, ast.Try):
            handlers = [s for h in node.handlers for s in h.body]
            yield from _statements([*node.body, *handlers, *node.orelse, *node.finalbody])
        elif isinstance(node, ast.With):
            yield from _statements(node.body)


def _bound(node: ast.stmt) -> list[tuple[str, str]]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return [(node.name, "def")]
    if isinstance(node, ast.ClassDef):
        return [(node.name, "class")]
    if isinstance(node, ast.Assign):
        return [(target.id, "name") for target in node.targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
        return [(node.target.id, "name")]
    return []


def plain(name: str) -> str:
    """A name without case and underscores: `Multi_Head_Attention` and `multiheadAttention` are near."""
    return name.replace("_", "").lower()


def match(exercises: Sequence[str], names: Names) -> dict[str, str]:
    """Exercise → the name it stands under in the submission: the contract's own, else a near one."""
    near = {plain(name): name for name, d in names.definitions.items() if d.kind in ("def", "class")}
    out = {}
    for exercise in exercises:
        if exercise in names.definitions:
            out[exercise] = exercise
        elif plain(exercise) in near:
            out[exercise] = near[plain(exercise)]
    return out


def untouched(name: str, names: Names, stub: Names) -> bool:
    """The definition is the one handed out: the same syntax tree."""
    mine, handed_out = names.definitions.get(name), stub.definitions.get(name)
    return mine is not None and handed_out is not None and mine.tree == handed_out.tree

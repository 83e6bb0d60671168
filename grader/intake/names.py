"""Which exercises a submission defines, under which names, and whether they were touched at all."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from grader.intake.parsed import parsed
from grader.intake.read import Submission, Unit


@dataclass(frozen=True)
class Definition:
    """A top-level definition: its syntax tree and its place."""

    name: str
    unit: str
    line: int
    tree: str
    kind: str  # "def", "class" or "name"
    takes: frozenset[str] | None = (
        None  # a class's constructor: its parameters, None if it has none of its own
    )


@dataclass(frozen=True)
class Names:
    """All top-level definitions of a submission; the last of a name wins. `broken`: units with bad syntax."""

    definitions: Mapping[str, Definition]
    broken: Mapping[str, str] = field(default_factory=dict)


def read_names(submission: Submission) -> Names:
    """Parse every unit. A unit that does not parse is noted, the others count."""
    return _names_in(submission.units)


@lru_cache(maxsize=8)
def _names_in(units: tuple[Unit, ...]) -> Names:
    found: dict[str, Definition] = {}
    broken: dict[str, str] = {}
    for unit in units:
        try:
            for node in _statements(parsed(unit.source).body):
                for name, kind in _bound(node):
                    found[name] = Definition(name, unit.name, node.lineno, ast.dump(node), kind, _takes(node))
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


def _takes(node: ast.stmt) -> frozenset[str] | None:
    """The names of the parameters of `__init__`."""
    for part in node.body if isinstance(node, ast.ClassDef) else ():
        if isinstance(part, ast.FunctionDef) and part.name == "__init__":
            arguments = part.args
            return frozenset(
                a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
            ) - {"self"}
    return None


@lru_cache(maxsize=4096)
def plain(name: str) -> str:
    """A name without case and underscores: `Multi_Head_Attention` and `multiheadAttention` are near."""
    return name.replace("_", "").lower()


def match(constructors: Mapping[str, frozenset[str] | None], names: Names) -> dict[str, str]:
    """Exercise → the name it stands under in the submission: the contract's own, else a near one.

    constructors: every exercise, with the keywords its class is built with (None for functions). Names of
    classes are no more than a label in real notebooks: one that bears the name of an exercise, and whose
    constructor takes the keywords of another one instead, is graded as that other one.
    """
    out: dict[str, str] = {}
    for exercise, keywords in constructors.items():
        candidates = [
            name
            for name, d in names.definitions.items()
            if plain(name) == plain(exercise) and (name == exercise or d.kind != "name")
        ]
        fitting = [name for name in candidates if _fits(names.definitions[name], keywords)]
        choice = fitting or candidates
        if choice:
            out[exercise] = exercise if exercise in choice else choice[-1]
    for exercise, keywords in constructors.items():
        if exercise in out or not keywords:
            continue
        for named, found in _misnamed(constructors, names):
            exactly = names.definitions[found].takes
            if exactly is not None and keywords == exactly - _OFTEN_THERE and exercise != named:
                out[exercise] = found
                if out.get(named) == found:
                    del out[named]
                break
    return out


_OFTEN_THERE = frozenset({"bias", "debug", "device"})


def _misnamed(constructors: Mapping[str, frozenset[str] | None], names: Names) -> list[tuple[str, str]]:
    """Classes that bear the name of an exercise and cannot be built as that exercise builds them."""
    return [
        (exercise, name)
        for exercise, keywords in constructors.items()
        for name, d in names.definitions.items()
        if d.kind == "class" and plain(name) == plain(exercise) and not _fits(d, keywords)
    ]


def _fits(definition: Definition, keywords: frozenset[str] | None) -> bool:
    return keywords is None or definition.takes is None or keywords <= definition.takes


def untouched(name: str, names: Names, stub: Names) -> bool:
    """The definition is the one handed out: the same syntax tree."""
    mine, handed_out = names.definitions.get(name), stub.definitions.get(name)
    return mine is not None and handed_out is not None and mine.tree == handed_out.tree

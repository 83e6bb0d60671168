"""Which exercises a submission defines, under which names, and whether they were touched at all."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from grader.intake.read import Submission, Unit
from grader.intake.syntax import CannotParse, parse


@dataclass(frozen=True)
class Definition:
    """A top-level definition: a hash of its syntax tree, and its place."""

    name: str
    unit: str
    line: int
    tree: str
    kind: str  # "def", "class" or "name"
    takes: frozenset[str] | None = None  # the parameters of `__init__` if the class defines it


@dataclass(frozen=True)
class Names:
    """All top-level definitions of a submission. Of several with one name, the last counts.

    broken: why a unit cannot be parsed, by its name.
    """

    definitions: Mapping[str, Definition]
    broken: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def by_plain_name(self) -> Mapping[str, list[str]]:
        """The names of the definitions by how `plain` spells them."""
        groups: dict[str, list[str]] = {}
        for name in self.definitions:
            groups.setdefault(plain(name), []).append(name)
        return groups


def read_names(submission: Submission) -> Names:
    """Parse every unit. A unit that cannot be parsed is noted, and the others count."""
    return _names_in(submission.units)


@lru_cache(maxsize=8)
def _names_in(units: tuple[Unit, ...]) -> Names:
    found: dict[str, Definition] = {}
    broken: dict[str, str] = {}
    for unit in units:
        try:
            found |= {definition.name: definition for definition in _definitions(unit)}
        except CannotParse as error:
            broken[unit.name] = str(error)
    return Names(found, broken)


def _definitions(unit: Unit) -> Iterator[Definition]:
    for node in _statements(parse(unit.source).body):
        names = _bound(node)
        if names:
            tree, takes = _hash(node), _takes(node)
            yield from (Definition(name, unit.name, node.lineno, tree, kind, takes) for name, kind in names)


def _hash(node: ast.stmt) -> str:
    """A hash of a syntax tree without its positions. Unlike `ast.dump`, this takes a tree of any depth."""
    parts = hashlib.sha256()
    waiting: list[object] = [node]
    while waiting:
        item = waiting.pop()
        if isinstance(item, ast.AST):
            fields = [value for _name, value in ast.iter_fields(item)]
            parts.update(f"{type(item).__name__}{len(fields)} ".encode())
            waiting += reversed(fields)
        elif isinstance(item, list):
            parts.update(f"list{len(item)} ".encode())
            waiting += reversed(item)
        else:  # Python does not write very long integers as decimals
            text = hex(item) if type(item) is int else repr(item)
            parts.update(f"{type(item).__name__} {text} ".encode("utf-8", "backslashreplace"))
    return parts.hexdigest()


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Top-level statements, and those inside `if`, `try` and `with` at the top level, in their order."""
    waiting = [*reversed(body)]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(_inner(node))


def _inner(node: ast.stmt) -> list[ast.stmt]:
    if isinstance(node, ast.If):
        return [*node.body, *node.orelse]
    if isinstance(node, ast.Try):
        handlers = [statement for handler in node.handlers for statement in handler.body]
        return [*node.body, *handlers, *node.orelse, *node.finalbody]
    return node.body if isinstance(node, ast.With) else []


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


def plain(name: str) -> str:
    """A name without case and underscores: `Multi_Head_Attention` and `multiheadAttention` are near."""
    return name.replace("_", "").lower()


def match(constructors: Mapping[str, frozenset[str] | None], names: Names) -> dict[str, str]:
    """Exercise → its name in the submission: the name that the contract asks for, else a near one.

    constructors: every exercise, with the keywords of its constructor (None for functions). The name of a class
    is only a label in real notebooks. A class with the name of one exercise whose constructor takes the keywords
    of another exercise is graded as the other one.
    """
    out: dict[str, str] = {}
    for exercise, keywords in constructors.items():
        candidates = [
            name
            for name in names.by_plain_name.get(plain(exercise), ())
            if name == exercise or names.definitions[name].kind != "name"
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
    """Classes with the name of an exercise whose constructor does not take the keywords of that exercise."""
    return [
        (exercise, name)
        for exercise, keywords in constructors.items()
        for name in names.by_plain_name.get(plain(exercise), ())
        if names.definitions[name].kind == "class" and not _fits(names.definitions[name], keywords)
    ]


def _fits(definition: Definition, keywords: frozenset[str] | None) -> bool:
    return keywords is None or definition.takes is None or keywords <= definition.takes


def untouched(name: str, names: Names, stub: Names) -> bool:
    """Whether the definition has the same syntax tree as in the original stub."""
    mine, original = names.definitions.get(name), stub.definitions.get(name)
    return mine is not None and original is not None and mine.tree == original.tree

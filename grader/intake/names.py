"""Find the definitions of a submission with their parameters, and whether they differ from the original stub."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from grader.intake.read import Blocked, Submission, Unit, submission_from, trees
from grader.intake.syntax import Fault, dotted, fault_of, statements, syntax_error


@dataclass(frozen=True)
class Signature:
    """The parameters of a function or method, without `self`. needed: those without a default."""

    positional: tuple[str, ...]
    keyword_only: tuple[str, ...]
    needed: frozenset[str]
    _node: ast.arguments = field(compare=False, repr=False)

    @property
    def names(self) -> frozenset[str]:
        return frozenset((*self.positional, *self.keyword_only))

    @property
    def defaults(self) -> dict[str, object]:
        """Return parameter → its default, where that is a constant."""
        found = self._node
        by_position = zip(reversed(self.positional), reversed(found.defaults), strict=False)
        given = (*by_position, *zip(self.keyword_only, found.kw_defaults, strict=True))
        return {name: default.value for name, default in given if isinstance(default, ast.Constant)}

    def accepts(self, count: int, keywords: Collection[str] = ()) -> bool:
        """Whether a call with `count` positional arguments and these keywords is possible."""
        by_position, named = {*self.positional[:count]}, {*keywords}
        fits = count <= len(self.positional) or self._node.vararg is not None
        known = named <= self.names or self._node.kwarg is not None
        return fits and known and not by_position & named and self.needed <= by_position | named

    @property
    def text(self) -> str:
        """Return the parameters with their defaults and without annotations."""
        found = copy(self._node)
        found.posonlyargs, found.args = [], [ast.arg(name) for name in self.positional]
        found.kwonlyargs = [ast.arg(name) for name in self.keyword_only]
        found.vararg, found.kwarg = (one and ast.arg(one.arg) for one in (found.vararg, found.kwarg))
        found.defaults = found.defaults[-len(self.positional) :] if self.positional else []
        try:
            return ast.unparse(found)
        except RecursionError:  # a default that is nested too deeply to write
            return ", ".join(self.positional)


def signature_of(node: ast.FunctionDef, skip: int) -> Signature:
    """Return the signature of a function. skip: the number of parameters to leave out: 1 for a method."""
    found = node.args
    positional = [a.arg for a in (*found.posonlyargs, *found.args)]
    without_default = positional[: len(positional) - len(found.defaults)][skip:]
    keyword_only = {a.arg: default for a, default in zip(found.kwonlyargs, found.kw_defaults, strict=True)}
    without_default += [name for name, default in keyword_only.items() if default is None]
    return Signature((*positional[skip:],), (*keyword_only,), frozenset(without_default), found)


def method_of(node: ast.stmt, name: str) -> ast.FunctionDef | None:
    """Return the method that a class itself defines under a name; None if there is none. The last one counts."""
    body = reversed(node.body) if isinstance(node, ast.ClassDef) else ()
    return next((part for part in body if isinstance(part, ast.FunctionDef) and part.name == name), None)


@dataclass(frozen=True)
class Definition:
    """A top-level definition: a hash of its syntax tree, its first and last line, and its parameters."""

    name: str
    unit: str
    line: int
    end: int
    tree: str
    kind: str  # "def", "class" or "name"
    parameters: Signature | None = None  # of a function; of `__init__` if the class defines it
    forward: Signature | None = None  # of `forward` if the class defines it


@dataclass(frozen=True)
class Names:
    """All top-level definitions of a submission. Of several with one name, the last counts."""

    units: tuple[Unit, ...]
    definitions: Mapping[str, Definition]
    faults: tuple[Fault, ...] = ()
    replaced: tuple[Definition, ...] = ()  # functions and classes above another one of the same name
    _signatures: dict[tuple[str, str], Signature | None] = field(
        default_factory=dict, repr=False, compare=False
    )

    @property
    def lost(self) -> dict[str, Fault]:
        """Name → its syntax error, for names that are defined only in code that cannot be parsed."""
        return {name: fault for fault in self.faults for name in fault.lost if name not in self.definitions}


def read_names(submission: Submission) -> Names:
    """Parse every unit. A unit that cannot be parsed becomes one of the faults; the others are read."""
    found = _names_in(submission.units)
    return replace(found, faults=submission.faults + found.faults)


@lru_cache(maxsize=8)
def _names_in(units: tuple[Unit, ...]) -> Names:
    found: dict[str, Definition] = {}
    replaced: list[Definition] = []
    nodes = ((unit, node) for unit, tree in trees(units) for node in statements(tree.body))
    for definition in (definition for unit, node in nodes for definition in _definitions(unit, node)):
        earlier = found.pop(definition.name, None)
        if earlier and {earlier.kind, definition.kind} <= {"def", "class"}:
            replaced.append(earlier)
        found[definition.name] = definition
    errors = ((unit, syntax_error(unit.source)) for unit in units)
    faults = tuple(fault_of(error, unit.name, unit.source) for unit, error in errors if error)
    return Names(units, found, faults, tuple(replaced))


def _definitions(unit: str, node: ast.stmt) -> Iterator[Definition]:
    if names := _bound(node):
        init, forward = method_of(node, "__init__"), method_of(node, "forward")
        parameters = signature_of(init, skip=1) if init else None
        if isinstance(node, ast.FunctionDef):
            parameters = signature_of(node, skip=0)
        called, tree = signature_of(forward, skip=1) if forward else None, hash_of(node)
        place = (unit, node.lineno, node.end_lineno or node.lineno)
        yield from (Definition(name, *place, tree, kind, parameters, called) for name, kind in names)


def hash_of(node: ast.stmt) -> str:
    """Return a hash of a syntax tree without its positions, docstrings and the name that the statement itself defines.

    Unlike `ast.dump`, this takes a tree of any depth.
    """
    parts: list[str] = []
    waiting: list[Any] = [node]
    while waiting:
        item = waiting.pop()
        if isinstance(item, ast.AST):
            parts.append(type(item).__name__)
            for name in reversed(item._fields):
                value: Any = getattr(item, name, None)
                if name == "body" and isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                    first = value[0]
                    value = value[isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) :]
                if name != "ctx" and not (item is node and name == "name"):  # the place decides the context
                    waiting.append(value)
        elif isinstance(item, list):
            parts.append(f"{len(item)}")
            waiting += reversed(item)
        else:  # Python does not write very long integers as decimals
            parts.append(f"{type(item).__name__} {hex(item) if type(item) is int else repr(item)}")
    return hashlib.sha256(" ".join(parts).encode("utf-8", "backslashreplace")).hexdigest()


def _bound(node: ast.stmt) -> list[tuple[str, str]]:
    """Return the names that a statement defines, each with its kind: "def", "class" or "name"."""
    match node:
        case ast.FunctionDef(name) | ast.AsyncFunctionDef(name):
            # The decorator `d2l.add_to_class` makes a function a method; its name is then not bound.
            calls = [one.func for one in node.decorator_list if isinstance(one, ast.Call)]
            return [] if any(dotted(call).endswith("add_to_class") for call in calls) else [(name, "def")]
        case ast.ClassDef(name):
            return [(name, "class")]
        case ast.Assign(targets):
            return [(target.id, "name") for target in targets if isinstance(target, ast.Name)]
        case ast.AnnAssign(ast.Name(name), value=ast.expr()):
            return [(name, "name")]
    return []


def plain(name: str) -> str:
    """Return a name without case and underscores: the same for `Multi_Head_Attention` and `multiheadAttention`."""
    return name.replace("_", "").lower()


def untouched(name: str, names: Names, stub: Names) -> bool:
    """Whether the definition has the same syntax tree as in the original stub."""
    mine, original = names.definitions.get(name), stub.definitions.get(name)
    return mine is not None and original is not None and mine.tree == original.tree


def is_changed(path: Path, read: Callable[[], bytes], stub: str, exercises: Sequence[str]) -> bool:
    """Whether a file lacks one of the exercises, or defines one differently than the stub.

    A file that cannot be read, or that has a syntax error, counts as changed.
    """
    found, original = _names(path, read), stub_names(stub)
    return bool(found.faults) or not all(untouched(name, found, original) for name in exercises)


def answers(path: Path, read: Callable[[], bytes], stub: str, exercises: Sequence[str]) -> bool:
    """Whether a file defines one of the exercises, and not as the stub does."""
    found, original = _names(path, read), stub_names(stub)
    return any(n in found.definitions and not untouched(n, found, original) for n in exercises)


def _names(path: Path, read: Callable[[], bytes]) -> Names:
    try:
        return read_names(submission_from(path, read()))
    except (Blocked, OSError) as error:
        return Names((), {}, (Fault(path.name, 0, str(error)),))


def stub_names(stub: str) -> Names:
    """Return the definitions of an original stub."""
    return read_names(Submission(Path("stub.py"), (Unit("stub.py", stub),)))


# Base classes whose subclasses must define `forward`.
_BARE_BASE = re.compile(r"(?:(?:torch\.)?nn\.|d2l\.)?(?:Module|Encoder|Decoder|AttentionDecoder)")


def function_of(names: Names, name: str, method: str = "") -> ast.FunctionDef | None:
    """Return a function, or a method that a class or a base class in the same file defines.

    Return None if the text does not decide it, for example because of a decorator, several base classes, a base class
    from elsewhere, or a name that is assigned.
    """
    for node in _family(names, name)[0]:
        if node.decorator_list:
            return None
        if isinstance(node, ast.FunctionDef):
            return None if method else node
        if found := method_of(node, method):
            return None if found.decorator_list else found
    return None


def signature(names: Names, name: str, method: str = "") -> Signature | None:
    """Return the signature of what `function_of` returns; None if that is None."""
    known = names._signatures  # that of a stub is asked for by each submission
    if (name, method) not in known:
        node = function_of(names, name, method)
        known[name, method] = signature_of(node, skip=1 if method else 0) if node else None
    return known[name, method]


def attributes_of(names: Names, name: str, variable: str) -> frozenset[str]:
    """Return the attributes of a variable that a class or function reads."""
    read = (dotted(part).split(".") for part in _parts(names, name) if isinstance(part, ast.Attribute))
    return frozenset(path[1] for path in read if path[0] == variable and len(path) == 2)


def words_of(names: Names, name: str) -> frozenset[str]:
    """Return the names, attributes and parameters that occur in a class or function, as `plain` writes them."""
    parts = _parts(names, name)
    words = (getattr(part, what, None) for part in parts for what in ("id", "attr", "arg"))
    return frozenset(plain(word) for word in words if isinstance(word, str))


def _parts(names: Names, name: str) -> Iterator[ast.AST]:
    node = _definition(names, name)
    return ast.walk(node) if node else iter(())


def without_code(names: Names, name: str) -> str:
    """Return the function, class or `forward` of a class that has no statement besides a docstring, `...`, `pass` or
    `raise NotImplementedError`; "" if it has one.

    A class without code must also inherit no code for `forward`, as far as the file and _BARE_BASE show it.
    """
    family, base = _family(names, name)
    forwards = [forward for node in family if (forward := method_of(node, "forward"))]
    if not family or not _is_bare(forwards[0] if forwards else family[0]):
        return ""
    if method_of(family[0], "forward"):
        return f"{name}.forward"
    is_bare = isinstance(family[0], ast.FunctionDef) or _BARE_BASE.fullmatch(base)
    return name if (forwards or is_bare) and _is_bare(family[0]) else ""


def _is_bare(node: ast.FunctionDef | ast.ClassDef) -> bool:
    for statement in node.body:
        match statement:
            case ast.Pass() | ast.Expr(ast.Constant()):
                continue
            case ast.Raise(ast.Name("NotImplementedError") | ast.Call(ast.Name("NotImplementedError"))):
                continue
        return False
    return True


def _family(names: Names, name: str) -> tuple[list[ast.FunctionDef | ast.ClassDef], str]:
    """Return a function, or a class and its base classes while each has one base that is of this file; and the name of
    the base that is not, "" if there are several.
    """
    found: dict[ast.FunctionDef | ast.ClassDef, None] = {}
    while (node := _definition(names, name)) and node not in found:
        found[node] = None
        bases = [dotted(base) for base in getattr(node, "bases", ())]
        name = bases[0] if len(bases) == 1 else ""
    return [*found], name


def _definition(names: Names, name: str) -> ast.FunctionDef | ast.ClassDef | None:
    _unit, node = nodes_of(names.units).get(name, ("", None))
    return node if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else None


@lru_cache(maxsize=4)  # asked for by each exercise, of a submission and of the stub
def nodes_of(units: tuple[Unit, ...]) -> Mapping[str, tuple[str, ast.stmt]]:
    """Return the name of each top-level definition → its unit and its statement. Of several, the last counts."""
    nodes = ((unit, node) for unit, tree in trees(units) for node in statements(tree.body))
    return {name: (unit, node) for unit, node in nodes for name, _kind in _bound(node)}

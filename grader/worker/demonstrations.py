"""Find the names that only demonstrations set. They are not there while an exercise is graded.

A file runs from top to bottom, so a function can read a name that a demonstration below it sets: it works there, and
nowhere else. A demonstration is a loop, or an assignment that calls a definition of the file or holds a data tensor.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from itertools import chain, islice
from types import FunctionType
from typing import Any

from torch import Tensor, nn

_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_DEFINITIONS = (*_NAMED, ast.Import, ast.ImportFrom)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_LATER = (*_DEFINITIONS, ast.Lambda)  # code in these does not run in the statement itself
_HOLD_STATEMENTS = (ast.stmt, ast.ExceptHandler, ast.match_case)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)  # their names are their own
_NOTHING = object()
MAX_DEPTH, MAX_ITEMS = 3, 1000  # of a container that may hold tensors


class Demonstrations:
    """The names that demonstrations set in one module, after each statement that has run."""

    def __init__(self, names: dict[str, Any]):
        self._names = names
        # Name → the file and the line that set it, and the value that it had before.
        self._set: dict[str, tuple[str, int, Any]] = {}

    def ran(self, node: ast.stmt, file: str, before: Mapping[str, Any]) -> None:
        """Note which names a statement has set. before: the names and values before it ran."""
        names = self._names
        bound: dict[str, list[ast.AST | None]] = {}
        for name, by in _bound(node, None):
            bound.setdefault(name, []).append(by)
        changed = [name for name in names if before.get(name, _NOTHING) is not names[name]]
        for name in dict.fromkeys((*changed, *bound)):
            if name not in names:
                self._set.pop(name, None)
            elif all(self._is_demonstration(name, by) for by in bound.get(name, [node])):
                kept = self._set[name][2] if name in self._set else before.get(name, _NOTHING)
                self._set[name] = file, node.lineno, kept
            else:
                self._set.pop(name, None)

    def may_take_long(self, node: ast.stmt) -> bool:
        """Whether a statement has a loop or calls a definition of the file. Definitions and imports do not count."""
        return any(isinstance(part, _LOOPS) for part in _running(node)) or self._calls_own(node)

    def remove(self, keep: Collection[str]) -> dict[str, tuple[str, int]]:
        """Give each name the value that it has without demonstrations. Return where the removed names were set.

        keep: names that stay as they are: those of exercises.
        """
        removed = {}
        for name, (file, line, kept) in self._set.items():
            if name in self._names and name not in keep:
                self._names[name] = kept
                if kept is _NOTHING:
                    del self._names[name]
                    removed[name] = file, line
        return removed

    def _is_demonstration(self, name: str, by: ast.AST | None) -> bool:
        """Whether a demonstration set this name. by: what bound it; a loop, a statement, or None for a definition."""
        value = self._names[name]
        if by is None or isinstance(by, _DEFINITIONS):
            return False
        if isinstance(by, _LOOPS) or (isinstance(by, ast.AugAssign) and name in self._set):
            return True
        return _holds_data(value) or (self._calls_own(by) and not _is_definition(value))

    def _calls_own(self, node: ast.AST) -> bool:
        return any(isinstance(part, ast.Call) and self._is_own(part.func) for part in _running(node))

    def _is_own(self, called: ast.AST) -> bool:
        while isinstance(called, (ast.Attribute, ast.Subscript, ast.Call)):
            called = called.func if isinstance(called, ast.Call) else called.value
        if not isinstance(called, ast.Name):
            return False
        value = self._names.get(called.id)
        if type(value) is FunctionType:
            return value.__globals__ is self._names
        cls: Any = value if issubclass(type(value), type) else type(value)
        return _module_of(cls) == "submission"


def _bound(node: Any, loop: ast.AST | None) -> Iterator[tuple[str, ast.AST | None]]:
    """Yield the names that a statement binds, each with what binds it: the outermost loop, else the statement in it
    that assigns, else None for a definition, an import, or the `as` of a `with`.
    """
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from ((alias.asname or alias.name.split(".")[0], None) for alias in node.names)
        return
    if isinstance(node, _NAMED):
        yield node.name, None
        return
    loop = loop or (node if isinstance(node, _LOOPS) else None)
    inner = [child for child in ast.iter_child_nodes(node) if isinstance(child, _HOLD_STATEMENTS)]
    for part in _running(node, without=inner, beyond=_COMPREHENSIONS):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id, loop or (None if isinstance(node, (ast.With, ast.AsyncWith)) else node)
    for child in inner:
        yield from _bound(child, loop)


def _running(
    node: ast.AST, without: Collection[ast.AST] = (), beyond: tuple[type[ast.AST], ...] = ()
) -> Iterator[ast.AST]:
    """Yield a node and its parts that run with it: not those of functions, classes and lambdas.

    without, beyond: other parts to leave out, and kinds of parts.
    """
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, (*_LATER, *beyond)) or part in without:
            continue
        yield part
        waiting += ast.iter_child_nodes(part)


def _is_definition(value: object) -> bool:
    """Whether a value that a call returned is a function or a class: a file may make its definitions so."""
    own = _module_of(type(value)) == "submission"
    return callable(value) and not own and not issubclass(type(value), nn.Module)


def _module_of(cls: type) -> object:
    return type.__getattribute__(cls, "__module__")


def _holds_data(value: Any, depth: int = 0) -> bool:
    """Whether a value is a tensor of several elements, a module with weights, or a container of these.

    It looks at types, not at `__class__`, which student code may define.
    """
    kind = type(value)
    try:
        if issubclass(kind, Tensor):
            return bool(value.numel() > 1)
        if issubclass(kind, nn.Module):
            return next(chain(value.parameters(), value.buffers()), None) is not None
        if issubclass(kind, (list, tuple, dict, set)) and depth < MAX_DEPTH:
            items = value.values() if issubclass(kind, dict) else value
            return any(_holds_data(item, depth + 1) for item in islice(items, MAX_ITEMS))
    except Exception:  # a lazy tensor has no size, and student code may raise
        return True
    return False

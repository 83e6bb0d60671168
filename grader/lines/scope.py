"""The surroundings of the code in a function: names, attributes of `self`, and calls in its class."""

from __future__ import annotations

import ast
from bisect import bisect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeGuard, TypeVar

from grader.lines.source_edit import Text

Function = ast.FunctionDef | ast.AsyncFunctionDef
Node = TypeVar("Node", bound=ast.expr)
MAX_OFFERED = 24  # names, or attributes of `self`, that an edit may put in one place


@dataclass
class Scope:
    """One function (or the top level of one statement) with its surroundings.

    names: parameters and local names, in order, each with the line and column where it is first bound. sizes: the
    names that hold whole numbers. attributes: the first attributes of `self` that the class assigns. layers: attributes that it calls or that hold modules.
    unused: layers that the class makes and never reads. base: the last part of the name of its first base class.
    wraps: the texts that calls in the same definition put before and after a value; see `_wraps`.
    """

    text: Text
    body: list[ast.stmt]
    names: dict[str, tuple[int, int]] = field(default_factory=dict)
    sizes: set[str] = field(default_factory=set)
    attributes: list[str] = field(default_factory=list)
    layers: set[str] = field(default_factory=set)
    unused: list[str] = field(default_factory=list)
    base: str = ""
    wraps: list[tuple[str, str]] = field(default_factory=list)
    is_constructor: bool = False
    function: Function | None = None

    def near(self, node: ast.AST) -> list[str]:
        """Return the names that may be put in the place of a node, in order: of many names, those bound nearest to it."""
        if len(self.names) <= MAX_OFFERED:
            return list(self.names)
        first = bisect(self._bound, (node.lineno, node.col_offset, 0, "")) - MAX_OFFERED // 2  # type: ignore[attr-defined]
        first = max(0, min(first, len(self._bound) - MAX_OFFERED))
        nearest = self._bound[first : first + MAX_OFFERED]
        return [name for _line, _column, _place, name in sorted(nearest, key=lambda bound: bound[2])]

    @cached_property
    def _bound(self) -> list[tuple[int, int, int, str]]:
        """Return line, column, place in `names` and name, in the order of the text."""
        return sorted((*at, place, name) for place, (name, at) in enumerate(self.names.items()))

    def tensors(self, node: ast.AST) -> list[str]:
        """Return the names of `near` that hold no whole numbers."""
        return [name for name in self.near(node) if name not in self.sizes]

    def statements(self) -> Iterator[ast.stmt]:
        """Yield the statements of the function, inner ones included, but none inside nested functions and classes.

        Statements in `except` and `case` blocks are left out, too.
        """
        waiting = list(reversed(self.body))
        while waiting:
            node = waiting.pop()
            yield node
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                waiting += [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.stmt)]

    @cached_property
    def expressions(self) -> list[tuple[ast.expr, ast.stmt]]:
        """Return every expression that is read, with its statement, and each parameter's default, with the function.

        Expressions in f-strings are left out.
        """
        found: list[tuple[ast.expr, ast.stmt]] = []
        for statement in self.statements():
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                continue
            waiting: list[ast.AST] = list(reversed(list(ast.iter_child_nodes(statement))))
            while waiting:
                node = waiting.pop()
                if isinstance(node, (ast.stmt, ast.JoinedStr)):
                    continue
                if isinstance(node, ast.expr) and not isinstance(
                    getattr(node, "ctx", None), (ast.Store, ast.Del)
                ):
                    found.append((node, statement))
                waiting += reversed(list(ast.iter_child_nodes(node)))
        if self.function is not None:
            arguments = self.function.args
            defaults = (*arguments.defaults, *arguments.kw_defaults)
            found += [(default, self.function) for default in defaults if default is not None]
        return found

    def every(self, kind: type[Node]) -> Iterator[tuple[Node, ast.stmt]]:
        """Yield the `expressions` of one kind."""
        return ((node, statement) for node, statement in self.expressions if isinstance(node, kind))


def scopes(text: Text, statement: ast.stmt) -> list[Scope]:
    """Return the scopes of a top-level statement: one per function in it; without functions, the statement."""
    found = list(_functions(statement, None))
    if not found:
        return [Scope(text, [statement])]
    # Each class is walked once, however many methods it has.
    owners = {id(owner): owner for _function, owner in found}
    shared = {key: _shared(text, owner, statement) for key, owner in owners.items()}
    return [_scope(text, function, shared[id(owner)]) for function, owner in found]


def _shared(text: Text, owner: ast.ClassDef | None, whole: ast.stmt) -> dict[str, Any]:
    """Return the fields that the scopes of a class share; outside a class, those of the whole statement."""
    attributes, layers = _attributes(owner)
    return {
        "attributes": attributes[:MAX_OFFERED],
        "layers": layers,
        "unused": _unused(owner, layers),
        "base": ast.unparse(owner.bases[0]).split(".")[-1] if owner is not None and owner.bases else "",
        "wraps": _wraps(text, owner or whole),
    }


def _functions(node: ast.stmt, owner: ast.ClassDef | None) -> Iterator[tuple[Function, ast.ClassDef | None]]:
    """Yield each function in a statement, nested ones included, with the class that it is a method of.

    owner: the class that the statement itself is in.
    """
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield node, owner
        owner = None
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.stmt):
            yield from _functions(part, node if isinstance(node, ast.ClassDef) else owner)


def _scope(text: Text, function: Function, shared: Mapping[str, Any]) -> Scope:
    arguments = function.args
    parameters = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    names = {a.arg: (a.lineno, a.col_offset) for a in parameters}
    sizes: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.setdefault(node.id, (node.lineno, node.col_offset))
        if isinstance(node, ast.Assign) and _is_size(node.value):
            sizes |= {n.id for target in node.targets for n in ast.walk(target) if isinstance(n, ast.Name)}
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name) and _calls(node.iter, "range"):
            sizes.add(node.target.id)
    names = {name: at for name, at in names.items() if name not in ("self", "_")}
    is_constructor = function.name == "__init__"
    return Scope(
        text, function.body, names, sizes, is_constructor=is_constructor, function=function, **shared
    )


def _is_size(value: ast.expr) -> bool:
    """Whether an expression gives whole numbers, as `x.shape`, `len(x)`, `n // 2` and tuples of these do."""
    if isinstance(value, ast.Tuple):
        return all(_is_size(part) for part in value.elts)
    if isinstance(value, ast.Attribute):
        return value.attr == "shape"
    if isinstance(value, ast.Subscript):
        return _is_size(value.value)
    if isinstance(value, ast.BinOp):
        return isinstance(value.op, ast.FloorDiv) or _is_size(value.left)
    return _calls(value, "len", "size", "numel", "int")


def _calls(node: ast.expr, *names: str) -> bool:
    if not isinstance(node, ast.Call):
        return False
    callee = node.func
    return (callee.id if isinstance(callee, ast.Name) else getattr(callee, "attr", "")) in names


def _attributes(owner: ast.ClassDef | None) -> tuple[list[str], set[str]]:
    """Return the attributes of `self` that a class assigns, and those that it calls or that hold modules."""
    if owner is None:
        return [], set()
    made: list[str] = []
    called: set[str] = set()
    for node in ast.walk(owner):
        if is_of_self(node) and isinstance(node.ctx, ast.Store):
            made.append(node.attr)
        if isinstance(node, ast.Call) and is_of_self(node.func):
            called.add(node.func.attr)
        if isinstance(node, ast.Assign):
            calls: list[ast.Call] = []
            if isinstance(node.value, ast.Call):
                calls = [node.value]
            elif isinstance(node.value, (ast.GeneratorExp, ast.Tuple)):
                calls = [part for part in ast.walk(node.value) if isinstance(part, ast.Call)]
            if any(map(_makes_a_module, calls)):
                parts = (part for target in node.targets for part in ast.walk(target))
                called |= {part.attr for part in parts if is_of_self(part)}
    return list(dict.fromkeys(made)), called


def _makes_a_module(call: ast.Call) -> bool:
    a_class = isinstance(call.func, ast.Name) and call.func.id[:1].isupper()
    return a_class or ast.unparse(call.func).startswith(("nn.", "torch.nn."))


def _unused(owner: ast.ClassDef | None, layers: set[str]) -> list[str]:
    if owner is None:
        return []
    of_self = filter(is_of_self, ast.walk(owner))
    return sorted(layers - {node.attr for node in of_self if isinstance(node.ctx, ast.Load)})


def is_of_self(node: ast.AST) -> TypeGuard[ast.Attribute]:
    """Whether a node is an attribute of `self`."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _wraps(text: Text, whole: ast.AST) -> list[tuple[str, str]]:
    """Return what calls put around a value, as `self.dropout(` and `)`, or nothing and `.relu()`.

    Each attribute that the class assigns is also returned as if it was called.
    """
    found: list[tuple[str, str]] = []
    for node in ast.walk(whole):
        if isinstance(node, ast.Call) and node.args and not isinstance(node.args[0], ast.Starred):
            start, stop = text.span(node)
            first = text.span(node.args[0])
            before = text.raw[start : first[0]].decode()
            after = text.raw[first[1] : stop].decode()
            simple = all(isinstance(a, ast.Constant) for a in node.args[1:])
            if (
                (is_of_self(node.func) or simple)
                and "nn.Linear" not in before
                and len(before) + len(after) < 60
            ):
                found.append((before, after))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not is_of_self(node.func):
            owner = text.span(node.func.value)
            after = text.raw[owner[1] : text.span(node)[1]].decode()
            if len(after) < 40 and all(isinstance(a, (ast.Constant, ast.UnaryOp)) for a in node.args):
                found.append(("", after))
    of_self = filter(is_of_self, ast.walk(whole))
    found += [(f"self.{node.attr}(", ")") for node in of_self if isinstance(node.ctx, ast.Store)]
    skipped = ("super", "range", "print")
    return [(b, a) for b, a in dict.fromkeys(found) if "\n" not in b + a and not b.startswith(skipped)]

"""One function with its surroundings: the names, attributes and layers that an edit may use in it."""

from __future__ import annotations

import ast
import builtins
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeGuard

from grader.lines.places import DEFINES, FUNCTIONS, Edit, Place, Span

MAX_OFFERED, MAX_TENSORS = 24, 10  # names, or attributes of `self`, that an edit may put in one place
MODULE = re.compile(r"\b[A-Z]\w*\(")  # a call that probably makes a module
# Keywords that are axes, and methods whose arguments are axes.
AXES = ("dim", "axis", "dim0", "dim1", "start_dim")
TAKE_AXES = ("transpose", "permute", "sum", "mean", "size", "unsqueeze", "softmax", "squeeze", "max")
COMPUTES = (ast.Call, ast.BinOp, ast.Compare, ast.IfExp, ast.Subscript, ast.Attribute)
NO_SITES = (ast.Constant, ast.Tuple, ast.Starred, ast.Slice, ast.JoinedStr, ast.BoolOp, ast.Lambda, ast.List)


@dataclass
class Class:
    """What the methods of a class share. attributes: those of `self` that it assigns, the first ones.

    layers: attributes that it calls or that hold modules. unused: layers that it makes and never reads.
    base: the last part of the name of its first base class.
    """

    attributes: list[str] = field(default_factory=list)
    layers: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    base: str = ""


@dataclass
class Scope:
    """One function, or one statement without functions.

    names: parameters and local names, in order, with their lines. sizes: the names that hold whole numbers.
    """

    place: Place
    body: list[ast.stmt]
    function: ast.FunctionDef | ast.AsyncFunctionDef | None = None
    owner: Class = field(default_factory=Class)
    names: dict[str, int] = field(default_factory=dict)
    sizes: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.text = self.place.text
        self.is_constructor = self.function is not None and self.function.name == "__init__"

    def edit(
        self,
        kind: str,
        statement: ast.AST,
        *changes: tuple[ast.AST | Span, str],
        at: ast.AST | None = None,
        inserts: bool = False,
    ) -> Edit:
        """Return an edit of a statement. changes: nodes or spans, with the text that takes their place.

        at: the node that a report underlines; if it is None, from the first change to the last one.
        """
        pieces = tuple(
            (*(self.text.span(where) if isinstance(where, ast.AST) else where), new) for where, new in changes
        )
        span = (pieces[0][0], pieces[-1][1]) if at is None else self.text.span(at)
        line: int = statement.lineno  # type: ignore[attr-defined]
        return Edit(self.place, kind, pieces, span, line, inserts)

    # ---- what may be put in the place of a node

    def near(self, node: ast.AST) -> list[str]:
        """Return the names that may be put in the place of a node: of many names, those bound nearest above it."""
        line: int = node.lineno  # type: ignore[attr-defined]
        above = [name for name, bound in self.names.items() if bound <= line]
        return above[-MAX_OFFERED:] if len(self.names) > MAX_OFFERED else list(self.names)

    def tensors(self, node: ast.AST) -> list[str]:
        """Return the first names of `near` that hold no whole numbers."""
        return [name for name in self.near(node) if name not in self.sizes][:MAX_TENSORS]

    def alike(self, node: ast.AST) -> list[str]:
        """Return what may be meant instead of a name or an attribute of `self`: sizes for sizes, layers for layers.

        In a constructor, every name may be a size.
        """
        if is_of_self(node):
            # A layer that the class does not assign is made by `setattr` or a base class.
            layers = self.owner.layers
            others = [one for one in self.owner.attributes if one not in layers]
            return layers[:MAX_OFFERED] if node.attr in layers else others
        is_size = getattr(node, "id", "") in self.sizes
        return [n for n in self.near(node) if self.is_constructor or (n in self.sizes) == is_size]

    # ---- what the function contains

    def statements(self) -> Iterator[ast.stmt]:
        """Yield the statements in order, inner ones included, but none inside nested functions and classes.

        Statements in `except` and `case` blocks are left out, too.
        """
        waiting = list(reversed(self.body))
        while waiting:
            node = waiting.pop()
            yield node
            if not isinstance(node, DEFINES):
                parts = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.stmt)]
                waiting += reversed(parts)

    @cached_property
    def expressions(self) -> list[tuple[ast.expr, ast.stmt]]:
        """Return every expression that is read, with its statement, and each parameter's default, with the function.

        Expressions in f-strings are left out.
        """
        found: list[tuple[ast.expr, ast.stmt]] = []
        for statement in self.statements():
            waiting: list[ast.AST] = [] if isinstance(statement, DEFINES) else [statement]
            while waiting:
                node = waiting.pop()
                is_stored = isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))
                if isinstance(node, ast.expr) and not is_stored:
                    found.append((node, statement))
                parts = [] if isinstance(node, ast.JoinedStr) else list(ast.iter_child_nodes(node))
                waiting += [part for part in reversed(parts) if not isinstance(part, ast.stmt)]
        if self.function is not None:
            arguments = self.function.args
            defaults = (*arguments.defaults, *arguments.kw_defaults)
            found += [(default, self.function) for default in defaults if default is not None]
        return found

    @cached_property
    def by_type(self) -> dict[type[ast.AST], list[tuple[ast.AST, ast.stmt]]]:
        """Return type of a node → the `expressions` and statements of this type."""
        found = defaultdict(list)
        for node, statement in (*self.expressions, *((s, s) for s in self.statements())):
            found[type(node)].append((node, statement))
        return found

    @property
    def calls(self) -> list[tuple[ast.Call, ast.stmt]]:
        return [(node, statement) for node, statement in self.expressions if isinstance(node, ast.Call)]

    # ---- the parts that an expression plays

    @cached_property
    def roles(self) -> dict[str, set[int]]:
        """Return role → the `id` of each expression that plays it.

        ARGUMENT, CONSTANT: an argument of a call that is neither a name nor a constant; a constant argument or index.
        AXIS: an argument of a call such as `transpose`, a keyword such as `dim`, an index of `.shape`.
        UNKNOWN, MISSING: a name that is defined nowhere; an attribute of `self` that the class never assigns.
        SITE, VALUE: what a call may be put around; of these, what is computed.
        """
        found: dict[str, set[int]] = defaultdict(set)
        for node, _statement in self.expressions:
            match node:
                case ast.Call(func=called, args=arguments, keywords=keywords):
                    parts = [*arguments, *(keyword.value for keyword in keywords)]
                    found["ARGUMENT"] |= {id(part) for part in parts if isinstance(part, COMPUTES)}
                    found["CONSTANT"] |= {id(part) for part in parts if _is_value(part)}
                    axes = arguments if getattr(called, "attr", "") in TAKE_AXES else []
                    found["AXIS"] |= {*map(id, axes), *(id(k.value) for k in keywords if k.arg in AXES)}
                case ast.Subscript(value=owner, slice=index):
                    found["CONSTANT"] |= {id(index)} if _is_value(index) else set()
                    found["AXIS"] |= {id(index)} if getattr(owner, "attr", "") == "shape" else set()
                case ast.Name(id=name) if name not in self.text.bound and not hasattr(builtins, name):
                    found["UNKNOWN"].add(id(node))
                case ast.Attribute(value=ast.Name("self"), attr=name) if name not in self.owner.attributes:
                    found["MISSING"].add(id(node))
        for node in () if self.is_constructor else self._sites():
            found["SITE"].add(id(node))
            found["VALUE"] |= {id(node)} if isinstance(node, (ast.Call, ast.BinOp)) else set()
        return found

    def _sites(self) -> Iterator[ast.expr]:
        """Yield the expressions around which a call may be put.

        Skip constants, tuples, lists, f-strings, lambdas, `and` and `or`, sizes, names that are not local, indices,
        comparisons by `is`, and `f` in `f()`, `a.b` in `a.b.c`, `x` in `x[0]`.
        """
        skipped: set[int] = set()
        for node, _statement in self.expressions:
            match node:
                case ast.Call(func=part) | ast.Attribute(value=ast.Attribute() as part):
                    skipped.add(id(part))
                case ast.Subscript(value=part, slice=index):
                    skipped |= {id(part), *map(id, ast.walk(index))}
                case ast.Compare(ops=[ast.Is() | ast.IsNot(), *_]):
                    skipped |= set(map(id, ast.walk(node)))
            known = not isinstance(node, ast.Name) or (node.id in self.names and node.id not in self.sizes)
            if known and id(node) not in skipped and not isinstance(node, NO_SITES):
                yield node


def _is_value(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is not None and node.value is not Ellipsis


def is_of_self(node: ast.AST) -> TypeGuard[ast.Attribute]:
    """Whether a node is an attribute of `self`."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def scopes(place: Place) -> list[Scope]:
    """Return one scope per function in a place; without functions, one for its statement."""
    return list(_functions(place, place.node, Class())) or [Scope(place, [place.node])]


def _functions(place: Place, node: ast.stmt, owner: Class) -> Iterator[Scope]:
    """Yield the scope of each function in a statement, nested ones included. owner: the class of the statement."""
    if isinstance(node, FUNCTIONS):
        yield _scope(place, node, owner)
        owner = Class()
    elif isinstance(node, ast.ClassDef):
        owner = _class(node)
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.stmt):
            yield from _functions(place, part, owner)


def _scope(place: Place, function: ast.FunctionDef | ast.AsyncFunctionDef, owner: Class) -> Scope:
    scope = Scope(place, function.body, function, owner)
    for node in ast.walk(function):
        match node:
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) if name not in ("self", "_"):
                scope.names.setdefault(name, node.lineno)
            case ast.Assign(targets=targets, value=value) if _is_size(value):
                parts = (part for target in targets for part in ast.walk(target))
                scope.sizes |= {part.id for part in parts if isinstance(part, ast.Name)}
            case ast.For(target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range"))):
                scope.sizes.add(name)
    return scope


def _is_size(value: ast.expr) -> bool:
    """Whether an expression gives whole numbers, as `x.shape`, `len(x)`, `n // 2` and tuples of these do."""
    match value:
        case ast.Tuple(elts=parts):
            return all(map(_is_size, parts))
        case ast.Call(func=ast.Name(id="len" | "int") | ast.Attribute(attr="size" | "numel")):
            return True
        case ast.Attribute(attr="shape") | ast.BinOp(op=ast.FloorDiv()):
            return True
        case ast.BinOp(left=inner) | ast.Subscript(value=inner):
            return _is_size(inner)
    return False


def _class(node: ast.ClassDef) -> Class:
    made, layers, read = [], [], set()
    for part in ast.walk(node):
        match part:
            case ast.Attribute(value=ast.Name("self"), attr=name, ctx=ast.Store()):
                made.append(name)
            case ast.Attribute(value=ast.Name("self"), attr=name):
                read.add(name)
            case ast.Call(func=ast.Attribute(value=ast.Name("self"), attr=name)):
                layers.append(name)
            case ast.Assign(targets=targets, value=value) if MODULE.search(ast.unparse(value)):
                parts = (one for target in targets for one in ast.walk(target))
                layers += [one.attr for one in parts if is_of_self(one)]
    attributes, layers = list(dict.fromkeys(made)), list(dict.fromkeys(layers))
    base = ast.unparse(node.bases[0]).split(".")[-1] if node.bases else ""
    return Class(attributes[:MAX_OFFERED], layers, sorted(set(layers) - read), base)

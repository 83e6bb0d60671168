"""One function with its surroundings: the names, attributes and layers that an edit may use in it."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from grader.lines.places import DEFINES, FUNCTIONS, Edit, Place, Span

# Keywords that are axes, and methods whose arguments are axes.
AXES = ("dim", "axis", "dim0", "dim1", "start_dim")
TAKE_AXES = ("transpose", "permute", "sum", "mean", "size", "unsqueeze", "softmax", "squeeze", "max")
COMPUTES = (ast.Call, ast.BinOp, ast.Compare, ast.IfExp, ast.Subscript, ast.Attribute)
NO_SITES = (ast.Constant, ast.Tuple, ast.Starred, ast.Slice, ast.JoinedStr, ast.BoolOp, ast.Lambda, ast.List)


@dataclass
class Scope:
    """One function, or one statement without functions. attributes: those of `self` that its class assigns."""

    place: Place
    body: list[ast.stmt]
    function: ast.FunctionDef | ast.AsyncFunctionDef | None = None
    attributes: Sequence[str] = ()

    def __post_init__(self) -> None:
        self.text = self.place.text
        self.is_constructor = self.function is not None and self.function.name == "__init__"
        self.names: dict[str, None] = {}  # parameters and local names, in order
        for node in ast.walk(self.function) if self.function is not None else ():
            match node:
                case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) if name not in ("self", "_"):
                    self.names[name] = None
        self._read()

    def _read(self) -> None:
        """Find the statements in order, but none inside nested functions and classes.

        Find every expression that is read, with its statement, and each parameter's default, with the function, but none in
        f-strings.
        """
        self.statements: list[ast.stmt] = []
        self.expressions: list[tuple[ast.expr, ast.stmt]] = []
        waiting: list[tuple[ast.AST, ast.stmt]] = [(one, one) for one in reversed(self.body)]
        while waiting:
            node, statement = waiting.pop()
            if isinstance(node, ast.stmt):
                statement = node
                self.statements.append(node)
            elif isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
                self.expressions.append((node, statement))
            if not isinstance(node, (*DEFINES, ast.JoinedStr)):
                waiting += reversed([(part, statement) for part in ast.iter_child_nodes(node)])
        if self.function is not None:
            arguments = self.function.args
            defaults = (*arguments.defaults, *arguments.kw_defaults)
            self.expressions += [(one, self.function) for one in defaults if one is not None]

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

    @cached_property
    def unused(self) -> list[str]:
        """Return the attributes that the class assigns and never reads."""
        text = self.text.of(self.place.node)
        return [one for one in self.attributes if len(re.findall(rf"\bself\.{one}\b", text)) == 1]

    @cached_property
    def roles(self) -> dict[str, set[int]]:
        """Return role → the `id` of each expression that plays it.

        ARGUMENT, CONSTANT: an argument of a call that is neither a name nor a constant; a constant argument or index.
        AXIS: an argument of a call such as `transpose`, a keyword such as `dim`, an index of `.shape`.
        SITE, VALUE: what a call may be put around, except in a constructor; of these, what is computed. No sites are
        constants, tuples, lists, f-strings, lambdas, `and` and `or`, names that are not local, indices,
        and `f` in `f()`, `a.b` in `a.b.c`, `x` in `x[0]`.
        """
        found: dict[str, set[int]] = defaultdict(set)
        skipped: set[int] = set()
        for node, _statement in self.expressions:
            match node:
                case ast.Call(func=called, args=arguments, keywords=keywords):
                    parts = [*arguments, *(keyword.value for keyword in keywords)]
                    found["ARGUMENT"] |= {id(part) for part in parts if isinstance(part, COMPUTES)}
                    found["CONSTANT"] |= {id(part) for part in parts if _is_value(part)}
                    axes = arguments if getattr(called, "attr", "") in TAKE_AXES else []
                    found["AXIS"] |= {*map(id, axes), *(id(k.value) for k in keywords if k.arg in AXES)}
                    skipped.add(id(called))
                case ast.Subscript(value=owner, slice=index):
                    found["CONSTANT"] |= {id(index)} if _is_value(index) else set()
                    found["AXIS"] |= {id(index)} if getattr(owner, "attr", "") == "shape" else set()
                    skipped |= {id(owner), *map(id, ast.walk(index))}
                case ast.Attribute(value=ast.Attribute() as owner):
                    skipped.add(id(owner))
        for node, _statement in () if self.is_constructor else self.expressions:
            known = not isinstance(node, ast.Name) or node.id in self.names
            if known and id(node) not in skipped and not isinstance(node, NO_SITES):
                found["SITE"].add(id(node))
                found["VALUE"] |= {id(node)} if isinstance(node, (ast.Call, ast.BinOp)) else set()
        return found


def _is_value(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is not None and node.value is not Ellipsis


def scopes(place: Place) -> list[Scope]:
    """Return one scope per function in a place; without functions, one for its statement."""
    return list(_functions(place, place.node, ())) or [Scope(place, [place.node])]


def _functions(place: Place, node: ast.stmt, attributes: Sequence[str]) -> Iterator[Scope]:
    """Yield the scope of each function in a statement, nested ones included. attributes: see `Scope`."""
    if isinstance(node, FUNCTIONS):
        yield Scope(place, node.body, node, attributes)
    elif isinstance(node, ast.ClassDef):
        found = (part for part in ast.walk(node) if isinstance(part, ast.Attribute))
        stored = (part for part in found if isinstance(part.ctx, ast.Store))
        attributes = list(dict.fromkeys(part.attr for part in stored if ast.unparse(part.value) == "self"))
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.stmt):
            yield from _functions(place, part, attributes)

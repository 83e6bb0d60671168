"""Edits of constants, names and attributes.

An operator is a function that takes a scope and yields edits. Each edit has the name of its kind in `Edit.operator`.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from grader.lines.scope import Scope, is_of_self
from grader.lines.source_edit import Edit, Piece

MODELS = ("model", "mha", "net", "module")  # usual names of a parameter that is a model
MAX_EXCHANGED = 12  # names of a function, or attributes; if there are more, no two are exchanged
MAX_NUMBER = 1 << 63
COMMON_DECIMALS = ("-1e6", "10000.0", "1e-5", "0.0", "1.0", "2.0", "0.5")
# Keywords that are axes, and methods whose arguments are axes.
AXES = ("dim", "axis", "dim0", "dim1", "start_dim")
TAKE_AXES = (
    "transpose",
    "permute",
    "sum",
    "mean",
    "size",
    "unsqueeze",
    "softmax",
    "squeeze",
    "max",
    "flatten",
)
Operator = Callable[[Scope], Iterator[Edit]]


def edit(
    scope: Scope, operator: str, node: ast.AST, new: str, statement: ast.stmt, inserts: bool = False
) -> Edit:
    """Return the edit that replaces one node by a text."""
    span = scope.text.span(node)
    return Edit(operator, ((*span, new),), span, statement.lineno, inserts)


def edit_at_all(scope: Scope, operator: str, places: Sequence[tuple[ast.expr, ast.stmt]], new: str) -> Edit:
    """Return the edit that replaces several nodes by the same text. A report names the first."""
    first, statement = places[0]
    pieces = tuple((*scope.text.span(node), new) for node, _statement in places)
    return Edit(operator, pieces, scope.text.span(first), statement.lineno)


def whole_text(scope: Scope, node: ast.expr) -> str:
    """Return the text of an expression, in parentheses where it may otherwise bind to its new neighbours."""
    text = scope.text.of(node)
    atomic = isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant, ast.List))
    return text if atomic or (text.startswith("(") and isinstance(node, ast.Tuple)) else f"({text})"


def _constants(scope: Scope) -> Iterator[Edit]:
    """Negate a truth value; replace a number by similar and common ones; replace an axis by another small one."""
    axes = _axes(scope)
    for node, statement in scope.expressions:
        if not isinstance(node, (ast.Constant, ast.UnaryOp)):
            continue
        value = _number(node)
        if value is None:
            continue
        if isinstance(value, bool):
            yield edit(scope, "truth value", node, str(not value), statement)
        elif isinstance(value, int):
            near = [value - 1, value + 1, -value] if id(node) not in axes else []
            for new in dict.fromkeys((*near, -1, -2, 0, 1, 2, 3)):
                if new != value:
                    name = "axis" if id(node) in axes else "whole number"
                    yield edit(scope, name, node, str(new) if new >= 0 else f"({new})", statement)
            if id(node) not in axes:
                powers = (str(value * 10), str(value * 100), str(max(value // 10, 1)))
                for text in (*powers, "float('-inf')", "-1e6", "0.5"):
                    yield edit(scope, "large number", node, text, statement)
        else:
            # "-inf" fits into every floating dtype, unlike -1e9
            texts = ("float('-inf')", repr(-value), repr(1 - value), *COMMON_DECIMALS)
            for text in dict.fromkeys(texts):
                yield edit(scope, "decimal number", node, f"({text})" if text[0] == "-" else text, statement)
            for factor in (10.0, 100.0, 0.1, 0.01, 1000.0):
                yield edit(scope, "decimal number", node, f"({value * factor!r})", statement)


def _axes(scope: Scope) -> set[int]:
    """Return the `id` of each node that is an axis: an argument of a call such as `transpose`, a keyword such as
    `dim`, or an index of `.shape`.
    """
    found: set[int] = set()
    for call, _statement in scope.every(ast.Call):
        found |= {id(k.value) for k in call.keywords if k.arg in AXES}
        if getattr(call.func, "attr", "") in TAKE_AXES:
            found |= {id(a) for a in call.args}
    for subscript, _statement in scope.every(ast.Subscript):
        if getattr(subscript.value, "attr", "") == "shape":
            found.add(id(subscript.slice))
    return found


def _number(node: ast.expr) -> int | float | None:
    """Return the number or truth value that a constant writes, with its sign; None for any other node.

    Also None for a whole number above MAX_NUMBER: Python refuses to write very long ones.
    """
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        sign, node = -1, node.operand
    if not isinstance(node, ast.Constant) or not isinstance(node.value, (bool, int, float)):
        return None
    if isinstance(node.value, int) and node.value > MAX_NUMBER:
        return None
    return node.value if sign == 1 else -node.value


def _names(scope: Scope) -> Iterator[Edit]:
    """Replace None by a name of the scope, or a name by another one. Add 1 to a size, or subtract 1.

    Only a size replaces a size. In a constructor, every name may be a size.
    """
    for node, statement in scope.expressions:
        if isinstance(node, ast.Constant) and node.value is None:
            for name in scope.near(node)[:12]:
                yield edit(scope, "none", node, name, statement)
            continue
        if not isinstance(node, ast.Name) or node.id not in scope.names:
            continue
        for name in scope.near(node):
            if name != node.id and (
                scope.is_constructor or (name in scope.sizes) == (node.id in scope.sizes)
            ):
                yield edit(scope, "name", node, name, statement)
        if node.id in scope.sizes or scope.is_constructor:
            yield edit(scope, "size by one", node, f"({node.id} - 1)", statement, inserts=True)
            yield edit(scope, "size by one", node, f"({node.id} + 1)", statement, inserts=True)


def _names_for_constants(scope: Scope) -> Iterator[Edit]:
    """Replace a constant argument or index by a name, at one place or wherever keyword and constant are the same."""
    # (keyword, text of the constant) → its places. Positional arguments and indices have the keyword "".
    passed: dict[tuple[str, str], list[tuple[ast.expr, ast.stmt]]] = {}
    for node, statement in scope.expressions:
        parts: list[tuple[str, ast.expr]] = []
        if isinstance(node, ast.Call):
            parts = [("", a) for a in node.args] + [(k.arg or "", k.value) for k in node.keywords]
        elif isinstance(node, ast.Subscript):
            parts = [("", node.slice)]
        for keyword, part in parts:
            if isinstance(part, ast.Constant) and part.value is not None and part.value is not Ellipsis:
                passed.setdefault((keyword, scope.text.of(part)), []).append((part, statement))
    for (keyword, _text), places in passed.items():
        names = [keyword] if keyword in scope.names else scope.near(places[0][0])[:16]
        for name in names:
            for node, statement in places[:4]:
                yield edit(scope, "name for constant", node, name, statement)
            if len(places) > 1:
                yield edit_at_all(scope, "names for constants", places, name)


def _names_for_arguments(scope: Scope) -> Iterator[Edit]:
    """Replace an argument that is neither a name nor a constant by a name."""
    if scope.is_constructor:
        return
    for node, statement in scope.every(ast.Call):
        for part in (*node.args, *(k.value for k in node.keywords)):
            if isinstance(part, (ast.Call, ast.BinOp, ast.Compare, ast.IfExp, ast.Subscript, ast.Attribute)):
                for name in scope.tensors(part)[:10]:
                    yield edit(scope, "name for argument", part, name, statement)


def _unknown_names(scope: Scope) -> Iterator[Edit]:
    """Replace a name that is defined nowhere by a known one, wherever the function reads it."""
    reads: dict[str, list[tuple[ast.expr, ast.stmt]]] = {}
    for node, statement in scope.every(ast.Name):
        if node.id not in scope.text.bound and not hasattr(builtins, node.id):
            reads.setdefault(node.id, []).append((node, statement))
    for places in reads.values():
        for name in scope.near(places[0][0]):
            yield edit_at_all(scope, "unknown name", places, name)


def _unknown_attributes(scope: Scope) -> Iterator[Edit]:
    """If the class never assigns an attribute of `self`, replace it by one that the class assigns."""
    for node, statement in scope.expressions:
        if is_of_self(node) and node.attr not in scope.attributes:
            for name in scope.attributes:
                yield edit(scope, "unknown attribute", node, f"self.{name}", statement)


def _attributes(scope: Scope) -> Iterator[Edit]:
    """Replace an attribute of `self` by another one, a layer only by a layer; drop `.data`, `.T` or `.mT`."""
    for node, statement in scope.every(ast.Attribute):
        if not isinstance(node.value, ast.Name):
            continue
        if node.value.id == "self":
            for name in scope.attributes:
                if name != node.attr and (name in scope.layers) == (node.attr in scope.layers):
                    yield edit(scope, "attribute", node, f"self.{name}", statement)
        elif node.attr in ("data", "T", "mT"):
            yield edit(scope, "drop method", node, node.value.id, statement)


def _swapped_attributes(scope: Scope) -> Iterator[Edit]:
    """Exchange two attributes of `self`, or two names, wherever they are read in the function."""
    reads: dict[str, list[tuple[ast.expr, ast.stmt]]] = {}
    for node, statement in scope.expressions:
        if is_of_self(node):
            # A layer that the class does not assign is made by `setattr` or a base class.
            if node.attr in scope.attributes or node.attr in scope.layers:
                reads.setdefault(f"self.{node.attr}", []).append((node, statement))
        elif isinstance(node, ast.Name) and node.id in scope.names:
            reads.setdefault(node.id, []).append((node, statement))
    own, names = [n for n in reads if n.startswith("self.")], [n for n in reads if not n.startswith("self.")]
    for kind, group in (("exchange layers", own), ("exchange", names)):
        if len(group) > MAX_EXCHANGED:
            continue
        for one, other in combinations(group, 2):
            pieces: list[Piece] = [(*scope.text.span(node), other) for node, _s in reads[one]]
            pieces += [(*scope.text.span(node), one) for node, _s in reads[other]]
            first, statement = min((*reads[one], *reads[other]), key=lambda pair: scope.text.span(pair[0]))
            lines = {s.lineno for _n, s in (*reads[one], *reads[other])}
            # Two names that are each read once, in different lines, are rarely exchanged by mistake.
            if len(pieces) > 2 or len(lines) == 1 or group is own or scope.is_constructor:
                yield Edit(kind, tuple(pieces), scope.text.span(first), statement.lineno)


def _everywhere(scope: Scope) -> Iterator[Edit]:
    """Replace a name at all places of a function where it is read, or a whole number at all places."""
    reads: dict[str, list[tuple[ast.expr, ast.stmt]]] = {}
    for node, statement in scope.expressions:
        text = scope.text.of(node)
        if isinstance(node, ast.Name):
            is_replaced = node.id in scope.names
        else:
            value = _number(node) if isinstance(node, ast.Constant) else None
            is_replaced = isinstance(value, int) and not isinstance(value, bool)
        if is_replaced:
            reads.setdefault(text, []).append((node, statement))
    for name, places in reads.items():
        if len(places) < 2:
            continue
        if name in scope.names:
            others = scope.near(places[0][0])
        else:
            number = int(name, 0)
            others = [str(number + 1), str(number - 1), "(-1)", "(-2)"]
        for other in others:
            if other != name and ((name in scope.sizes) == (other in scope.sizes)):
                yield edit_at_all(scope, "everywhere", places, other)


OPERATORS: tuple[Operator, ...] = (
    _constants,
    _names,
    _names_for_constants,
    _names_for_arguments,
    _unknown_names,
    _unknown_attributes,
    _attributes,
    _swapped_attributes,
    _everywhere,
)

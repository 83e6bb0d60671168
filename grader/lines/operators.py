"""Edits that replace a part of an expression: constants, names, calls, the sides of an operation.

An operator takes a scope and yields edits. Each has a name; `order.py` knows how often it repairs.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from itertools import permutations

from grader.lines.edit import Edit, Piece
from grader.lines.scope import Scope

Operator = Callable[[Scope], Iterator[Edit]]

FAMILIES = (
    ("softmax", "log_softmax", "sigmoid"),
    ("relu", "gelu", "tanh", "sigmoid", "leaky_relu", "elu"),
    ("ReLU", "GELU", "Tanh", "Sigmoid", "LeakyReLU"),
    ("sum", "mean", "max", "amax"),
    ("view", "reshape"),
    ("repeat", "repeat_interleave", "expand", "tile"),
    ("tril", "triu"),
    ("zeros", "ones", "empty"),
    ("zeros_like", "ones_like"),
    ("sin", "cos"),
    ("argmax", "argmin"),
    ("exp", "log", "abs", "square"),
    ("sqrt", "square", "rsqrt", "log"),
    ("std", "var"),
    ("min", "max"),
    ("cat", "stack"),
    ("append", "extend"),
    ("any", "all"),
    ("floor", "ceil", "round"),
    ("squeeze", "unsqueeze"),
    ("clamp_min", "clamp_max"),
    ("masked_fill", "masked_fill_"),
)
COMPARISONS = {
    ast.Lt: ("<=", ">=", ">"),
    ast.LtE: ("<", ">", ">="),
    ast.Gt: (">=", "<=", "<"),
    ast.GtE: (">", "<", "<="),
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
    ast.Is: ("is not",),
    ast.IsNot: ("is",),
    ast.In: ("not in",),
    ast.NotIn: ("in",),
}
OPERATIONS = {
    ast.Add: ("-", "*"),
    ast.Sub: ("+",),
    ast.Mult: ("/", "+", "@"),
    ast.Div: ("*", "//"),
    ast.FloorDiv: ("%", "*"),
    ast.Mod: ("//",),
    ast.MatMult: ("*",),
    ast.Pow: ("*", "/"),
    ast.BitAnd: ("|",),
    ast.BitOr: ("&",),
}


def edit(
    scope: Scope, operator: str, node: ast.AST, new: str, statement: ast.stmt, inserts: bool = False
) -> Edit:
    """The edit that replaces one node by a text."""
    span = scope.text.span(node)
    return Edit(operator, ((*span, new),), span, statement.lineno, inserts)


def whole_text(scope: Scope, node: ast.expr) -> str:
    """The text of an expression, in parentheses where it may otherwise bind to its new neighbours."""
    text = scope.text.of(node)
    atomic = isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant, ast.List))
    return text if atomic or (text.startswith("(") and isinstance(node, ast.Tuple)) else f"({text})"


def _constants(scope: Scope) -> Iterator[Edit]:
    axes = _axes(scope)
    for node, statement in scope.expressions():
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
                for text in (
                    str(value * 10),
                    str(value * 100),
                    str(max(value // 10, 1)),
                    "float('-inf')",
                    "-1e6",
                    "0.5",
                ):
                    yield edit(scope, "large number", node, text, statement)
        else:
            for text in dict.fromkeys(
                (
                    repr(-value),
                    repr(1 - value),
                    "-1e6",
                    "float('-inf')",
                    "10000.0",
                    "1e-5",
                    "0.0",
                    "1.0",
                    "2.0",
                    "0.5",
                )
            ):
                yield edit(scope, "decimal number", node, f"({text})" if text[0] == "-" else text, statement)
            for factor in (10.0, 100.0, 0.1, 0.01, 1000.0):
                yield edit(scope, "decimal number", node, f"({value * factor!r})", statement)


def _axes(scope: Scope) -> set[int]:
    """The constants that are axes or places: arguments, and keywords such as `dim`."""
    found: set[int] = set()
    for node, _statement in scope.expressions():
        if isinstance(node, ast.Call):
            found |= {
                id(k.value) for k in node.keywords if k.arg in ("dim", "axis", "dim0", "dim1", "start_dim")
            }
            name = getattr(node.func, "attr", "")
            if name in (
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
            ):
                found |= {id(a) for a in node.args}
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Attribute)
            and node.value.attr == "shape"
        ):
            found.add(id(node.slice))
    return found


def _number(node: ast.expr) -> int | float | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)):
        return node.value
    if (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and isinstance(node.operand, ast.Constant)
    ):
        value = node.operand.value
        return -value if isinstance(value, (int, float)) else None
    return None


def _names(scope: Scope) -> Iterator[Edit]:
    """Another name of the scope, and every occurrence of one name in a statement."""
    for node, statement in scope.expressions():
        if isinstance(node, ast.Constant) and node.value is None:
            for name in scope.names[:12]:
                yield edit(scope, "none", node, name, statement)
            continue
        if not isinstance(node, ast.Name) or node.id not in scope.names:
            continue
        for name in scope.names:
            if name != node.id and (
                scope.is_constructor or (name in scope.sizes) == (node.id in scope.sizes)
            ):
                yield edit(scope, "name", node, name, statement)
        if node.id in scope.sizes or scope.is_constructor:
            yield edit(scope, "size by one", node, f"({node.id} - 1)", statement, True)
            yield edit(scope, "size by one", node, f"({node.id} + 1)", statement, True)


def _unknown_attributes(scope: Scope) -> Iterator[Edit]:
    """Attributes of `self` that the class never assigns."""
    for node, statement in scope.expressions():
        if not _is_of_self(node) or not scope.attributes:
            continue
        assert isinstance(node, ast.Attribute)
        for name in scope.attributes if node.attr not in scope.attributes else ():
            yield edit(scope, "unknown attribute", node, f"self.{name}", statement)


def _is_of_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _attributes(scope: Scope) -> Iterator[Edit]:
    for node, statement in scope.expressions():
        if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)):
            continue
        if node.value.id == "self":
            for name in scope.attributes:
                if name != node.attr and (name in scope.layers) == (node.attr in scope.layers):
                    yield edit(scope, "attribute", node, f"self.{name}", statement)
        elif node.attr in ("data", "T", "mT"):
            yield edit(scope, "drop method", node, node.value.id, statement)


def _swapped_attributes(scope: Scope) -> Iterator[Edit]:
    """Exchange two layers, or two names, wherever they are read in the function."""
    reads: dict[str, list[tuple[ast.expr, ast.stmt]]] = {}
    for node, statement in scope.expressions():
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            if node.attr in scope.attributes:
                reads.setdefault(f"self.{node.attr}", []).append((node, statement))
        elif isinstance(node, ast.Name) and node.id in scope.names:
            reads.setdefault(node.id, []).append((node, statement))
    names = list(reads)
    for i, one in enumerate(names):
        for other in names[i + 1 :]:
            if one.startswith("self.") != other.startswith("self.") or len(names) > 14:
                continue
            pieces: list[Piece] = [(*scope.text.span(node), other) for node, _s in reads[one]]
            pieces += [(*scope.text.span(node), one) for node, _s in reads[other]]
            first, statement = min((*reads[one], *reads[other]), key=lambda pair: scope.text.span(pair[0]))
            lines = {s.lineno for _n, s in (*reads[one], *reads[other])}
            if len(pieces) > 2 or len(lines) == 1:
                yield Edit("exchange", tuple(pieces), scope.text.span(first), statement.lineno)


def _everywhere(scope: Scope) -> Iterator[Edit]:
    """Replace a name at all places of a function where it is read, or one constant at all of its places."""
    reads: dict[str, list[tuple[ast.expr, ast.stmt]]] = {}
    for node, statement in scope.expressions():
        text = scope.text.of(node)
        if (isinstance(node, ast.Name) and node.id in scope.names) or (
            isinstance(node, ast.Constant)
            and isinstance(node.value, int)
            and not isinstance(node.value, bool)
        ):
            reads.setdefault(text, []).append((node, statement))
    for name, places in reads.items():
        if len(places) < 2:
            continue
        others = (
            scope.names if name in scope.names else [str(int(name) + 1), str(int(name) - 1), "(-1)", "(-2)"]
        )
        for other in others:
            if other != name and ((name in scope.sizes) == (other in scope.sizes)):
                pieces = tuple((*scope.text.span(node), other) for node, _s in places)
                yield Edit("everywhere", pieces, scope.text.span(places[0][0]), places[0][1].lineno)


def _drop_call(scope: Scope) -> Iterator[Edit]:
    """`f(x)` → `x`, and `x.f()` → `x`."""
    for node, statement in scope.expressions():
        if not isinstance(node, ast.Call) or (isinstance(statement, ast.Expr) and statement.value is node):
            continue
        for argument in node.args[:3]:
            if not isinstance(argument, (ast.Starred, ast.Constant)):
                yield edit(scope, "drop call", node, whole_text(scope, argument), statement)
        if (isinstance(node.func, ast.Attribute) and not isinstance(node.func.value, ast.Name)) or (
            isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id in scope.names
        ):
            yield edit(scope, "drop method", node, whole_text(scope, node.func.value), statement)


def _sides(scope: Scope) -> Iterator[Edit]:
    """Drop one side of an operation, exchange the sides, or choose another operation."""
    for node, statement in scope.expressions():
        if isinstance(node, ast.BinOp):
            left, right = whole_text(scope, node.left), whole_text(scope, node.right)
            yield edit(scope, "drop side", node, left, statement)
            if not isinstance(node.right, ast.Constant):
                yield edit(scope, "drop side", node, right, statement)
            if isinstance(node.op, (ast.Sub, ast.Div, ast.MatMult, ast.FloorDiv)):
                yield edit(scope, "sides", node, f"({right} {_symbol(scope, node)} {left})", statement)
            for symbol in OPERATIONS.get(type(node.op), ()):
                yield edit(scope, "operation", node, f"({left} {symbol} {right})", statement)
        elif isinstance(node, ast.UnaryOp) and not isinstance(node.operand, ast.Constant):
            yield edit(scope, "drop sign", node, whole_text(scope, node.operand), statement)
        elif isinstance(node, ast.BoolOp):
            for part in node.values:
                yield edit(scope, "drop side", node, whole_text(scope, part), statement)
            symbol = " or " if isinstance(node.op, ast.And) else " and "
            new = symbol.join(whole_text(scope, part) for part in node.values)
            yield edit(scope, "operation", node, f"({new})", statement)
        elif isinstance(node, ast.IfExp):
            test, body, other = (whole_text(scope, n) for n in (node.test, node.body, node.orelse))
            yield edit(scope, "choice", node, body, statement)
            yield edit(scope, "choice", node, other, statement)
            yield edit(scope, "choice", node, f"({other} if {test} else {body})", statement)


def _symbol(scope: Scope, node: ast.BinOp) -> str:
    return {ast.Sub: "-", ast.Div: "/", ast.MatMult: "@", ast.FloorDiv: "//"}[type(node.op)]


def _comparisons(scope: Scope) -> Iterator[Edit]:
    for node, statement in scope.expressions():
        if not isinstance(node, ast.Compare) or len(node.ops) != 1:
            continue
        left, right = whole_text(scope, node.left), whole_text(scope, node.comparators[0])
        for symbol in COMPARISONS.get(type(node.ops[0]), ()):
            yield edit(scope, "comparison", node, f"({left} {symbol} {right})", statement)
        if not isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
            between = scope.text.raw[
                scope.text.span(node.left)[1] : scope.text.span(node.comparators[0])[0]
            ].decode()
            symbol = between.strip("() ")
            for new in (
                f"{left} {symbol} {right} + 1",
                f"{left} {symbol} {right} - 1",
                f"{right} {symbol} {left}",
            ):
                yield edit(scope, "comparison", node, f"({new})", statement)


def _functions_of_a_family(scope: Scope) -> Iterator[Edit]:
    """Another function of the same family, or a name without its underscore at the end."""
    for node, statement in scope.expressions():
        if isinstance(node, ast.Attribute):
            name, before = node.attr, scope.text.of(node)[: -len(node.attr)]
        elif isinstance(node, ast.Name) and node.id not in scope.names:
            name, before = node.id, ""
        else:
            continue
        others = [other for family in FAMILIES if name in family for other in family if other != name]
        if name.endswith("_") and not name.endswith("__"):
            others.append(name[:-1])
        for other in dict.fromkeys(others):
            yield edit(scope, "function", node, before + other, statement)


def _arguments(scope: Scope) -> Iterator[Edit]:
    """Exchange two arguments or elements; drop an argument or a keyword."""
    for node, statement in scope.expressions():
        if isinstance(node, ast.Call):
            parts: list[ast.expr] = [*node.args, *(k.value for k in node.keywords)]
        elif isinstance(node, (ast.Tuple, ast.List)):
            parts = node.elts
        else:
            continue
        for i, one in enumerate(parts[:6]):
            for other in parts[i + 1 : 6]:
                if scope.text.of(one) != scope.text.of(other) and not isinstance(one, ast.Starred):
                    pieces = (
                        (*scope.text.span(one), scope.text.of(other)),
                        (*scope.text.span(other), scope.text.of(one)),
                    )
                    at = (scope.text.span(one)[0], scope.text.span(other)[1])
                    yield Edit("argument order", pieces, at, statement.lineno)
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "permute":
            yield from _permutations(scope, node, statement)
        if isinstance(node, ast.Call):
            for index, part in enumerate(parts):
                rest = [
                    *(scope.text.of(a) for j, a in enumerate(node.args) if j != index),
                    *(scope.text.of(k) for j, k in enumerate(node.keywords) if j + len(node.args) != index),
                ]
                new = f"{scope.text.of(node.func)}({', '.join(rest)})"
                span = scope.text.span(part)
                yield Edit("drop argument", ((*scope.text.span(node), new),), span, statement.lineno)


def _permutations(scope: Scope, node: ast.Call, statement: ast.stmt) -> Iterator[Edit]:
    """Every other order of the arguments of `permute`."""
    texts = [scope.text.of(a) for a in node.args]
    for order in permutations(texts) if len(texts) <= 4 else ():
        if list(order) != texts:
            new = f"{scope.text.of(node.func)}({', '.join(order)})"
            yield edit(scope, "argument order", node, new, statement)


def _subscripts(scope: Scope) -> Iterator[Edit]:
    """Drop a subscript, exchange its axes, or one bound of a slice."""
    for node, statement in scope.expressions():
        if not isinstance(node, ast.Subscript):
            continue
        yield edit(scope, "subscript", node, whole_text(scope, node.value), statement)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        texts = [scope.text.of(part) for part in parts]
        before = whole_text(scope, node.value)
        for i in range(len(texts) - 1):
            swapped = [*texts[:i], texts[i + 1], texts[i], *texts[i + 2 :]]
            if swapped != texts:
                yield edit(scope, "subscript", node, f"{before}[{', '.join(swapped)}]", statement)
        for i, part in enumerate(parts):
            if not isinstance(part, ast.Slice):
                continue
            low, high = (scope.text.of(b) if b is not None else "" for b in (part.lower, part.upper))
            step = f":{scope.text.of(part.step)}" if part.step is not None else ""
            for new in _slices(low, high):
                changed = [*texts[:i], new + step, *texts[i + 1 :]]
                yield edit(scope, "slice", node, f"{before}[{', '.join(changed)}]", statement)


def _slices(low: str, high: str) -> Iterator[str]:
    if not low and not high:
        return
    yield f"{high}:{low}"
    if low and high:
        yield from (f"{low}:", f":{high}")
    for bound in (low, high):
        for new in (f"{bound} + 1", f"{bound} - 1") if bound and not bound.lstrip("-").isdigit() else ():
            yield f"{new if bound is low else low}:{new if bound is high else high}"


OPERATORS: tuple[Operator, ...] = (
    _constants,
    _names,
    _unknown_attributes,
    _attributes,
    _swapped_attributes,
    _everywhere,
    _drop_call,
    _sides,
    _comparisons,
    _functions_of_a_family,
    _arguments,
    _subscripts,
)

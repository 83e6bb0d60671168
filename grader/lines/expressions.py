"""Edits of calls, operations and subscripts: drop one or replace it; exchange, change or drop its parts."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import combinations, permutations

from grader.lines.operators import Operator, edit, whole_text
from grader.lines.scope import Scope
from grader.lines.source_edit import Edit

# Functions that may be taken for one another.
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
# Functions that may be used where softmax is right.
UNNORMALISED = ("exp", "relu", "sigmoid", "tanh")
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
# Operations whose sides may be exchanged by mistake.
ONE_SIDED = {ast.Sub: "-", ast.Div: "/", ast.MatMult: "@", ast.FloorDiv: "//"}
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


def _drop_call(scope: Scope) -> Iterator[Edit]:
    """`f(x)` → `x`, and `x.f()` → `x`."""
    for node, statement in scope.every(ast.Call):
        if isinstance(statement, ast.Expr) and statement.value is node:  # `statements._dropped` drops it
            continue
        for argument in node.args[:3]:
            if not isinstance(argument, (ast.Starred, ast.Constant)):
                yield edit(scope, "drop call", node, whole_text(scope, argument), statement)
        if isinstance(node.func, ast.Attribute):
            owner = node.func.value
            # Names that are not in the scope are modules, or `self`.
            if not isinstance(owner, ast.Name) or owner.id in scope.names:
                yield edit(scope, "drop method", node, whole_text(scope, owner), statement)


def _sides(scope: Scope) -> Iterator[Edit]:
    """Drop one side of an operation, exchange the sides, or choose another operation; drop `-`, `~` or `not`.

    Drop one side of a conditional expression, or exchange the sides.
    """
    for node, statement in scope.expressions:
        if isinstance(node, ast.BinOp):
            left, right = whole_text(scope, node.left), whole_text(scope, node.right)
            yield edit(scope, "drop side", node, left, statement)
            if not isinstance(node.right, ast.Constant):
                yield edit(scope, "drop side", node, right, statement)
            if type(node.op) in ONE_SIDED:
                yield edit(scope, "sides", node, f"({right} {ONE_SIDED[type(node.op)]} {left})", statement)
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


def _comparisons(scope: Scope) -> Iterator[Edit]:
    """Choose another comparison, exchange its sides, or change its right side by 1."""
    for node, statement in scope.every(ast.Compare):
        if len(node.ops) != 1:
            continue
        left, right = whole_text(scope, node.left), whole_text(scope, node.comparators[0])
        for symbol in COMPARISONS.get(type(node.ops[0]), ()):
            yield edit(scope, "comparison", node, f"({left} {symbol} {right})", statement)
        if not isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
            # Without the parentheses of the sides.
            symbol = scope.text.between(node.left, node.comparators[0]).strip("() ")
            is_text = isinstance(getattr(node.comparators[0], "value", None), str)
            shifted = () if is_text else (f"{left} {symbol} {right} + 1", f"{left} {symbol} {right} - 1")
            for new in (*shifted, f"{right} {symbol} {left}"):
                yield edit(scope, "comparison", node, f"({new})", statement)


def _functions_of_a_family(scope: Scope) -> Iterator[Edit]:
    """Choose another function of the same family, or the name without its last underscore.

    Also yield the edits of `_normalised` and `_instead_of_values`.
    """
    # The `id` of what is called → the call.
    calls = {id(node.func): node for node, _statement in scope.every(ast.Call)}
    for node, statement in scope.expressions:
        yield from _instead_of_values(scope, node, statement)
        if isinstance(node, ast.Attribute):
            name, before = node.attr, scope.text.of(node)[: -len(node.attr)]
        elif isinstance(node, ast.Name) and node.id not in scope.names:
            name, before = node.id, ""
        else:
            continue
        others = [other for family in FAMILIES if name in family for other in family if other != name]
        if name.endswith("_") and not name.endswith("__"):
            others.append(name[:-1])
        if name in UNNORMALISED and id(node) in calls:
            yield from _normalised(scope, calls[id(node)], statement)
        for other in dict.fromkeys(others):
            yield edit(scope, "function", node, before + other, statement)


def _normalised(scope: Scope, node: ast.Call, statement: ast.stmt) -> Iterator[Edit]:
    """`torch.exp(X)` → `torch.softmax(X, dim=-1)`, `X.exp()` → `X.softmax(dim=-1)`."""
    owner = scope.text.of(node.func).rpartition(".")[0]
    inside = "".join(f"{scope.text.of(part)}, " for part in node.args)
    if owner and not node.keywords:
        yield edit(scope, "function", node, f"{owner}.softmax({inside}dim=-1)", statement)


def _instead_of_values(scope: Scope, node: ast.expr, statement: ast.stmt) -> Iterator[Edit]:
    """`X.max(…).values` or `X.min(…).values` → `X.sum(…)` or `X.mean(…)`."""
    called = node.value if isinstance(node, ast.Attribute) and node.attr == "values" else None
    if not (isinstance(called, ast.Call) and isinstance(called.func, ast.Attribute)):
        return
    if called.func.attr in ("max", "min"):
        start, stop = scope.text.span(called.func)[1], scope.text.span(called)[1]
        owner, arguments = scope.text.of(called.func.value), scope.text.raw[start:stop].decode()
        for other in ("sum", "mean"):
            yield edit(scope, "function", node, f"{owner}.{other}{arguments}", statement)


def _swapped_functions(scope: Scope) -> Iterator[Edit]:
    """Exchange two methods of a family at all their calls; replace a method with several calls at all of them."""
    # Name of a method → start and stop of each place, and the statement.
    calls: dict[str, list[tuple[int, int, ast.stmt]]] = {}
    for node, statement in scope.every(ast.Call):
        if isinstance(node.func, ast.Attribute):
            stop = scope.text.span(node.func)[1]
            name = node.func.attr
            calls.setdefault(name, []).append((stop - len(name.encode()), stop, statement))
    for family in FAMILIES:
        for one in [name for name in family if len(calls.get(name, ())) > 1]:
            start, stop, statement = calls[one][0]
            for other in [name for name in family if name != one]:
                pieces = [(first, last, other) for first, last, _s in calls[one]]
                yield Edit("everywhere", tuple(pieces), (start, stop), statement.lineno)
        for one, other in combinations([name for name in family if name in calls], 2):
            pieces = [(start, stop, other) for start, stop, _s in calls[one]]
            pieces += [(start, stop, one) for start, stop, _s in calls[other]]
            start, stop, statement = min((*calls[one], *calls[other]), key=lambda place: place[0])
            yield Edit("exchange", tuple(pieces), (start, stop), statement.lineno)


def _arguments(scope: Scope) -> Iterator[Edit]:
    """Exchange two arguments or elements; drop an argument or a keyword; reorder the axes of `permute`."""
    for node, statement in scope.expressions:
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
            texts = [scope.text.of(part) for part in (*node.args, *node.keywords)]
            for index, part in enumerate(parts):
                rest = [*texts[:index], *texts[index + 1 :]]
                new = f"{scope.text.of(node.func)}({', '.join(rest)})"
                span = scope.text.span(part)
                yield Edit("drop argument", ((*scope.text.span(node), new),), span, statement.lineno)


def _ranges(scope: Scope) -> Iterator[Edit]:
    """Let a range end one later or one earlier, or shift the range by one; replace a constant end by a length."""
    for node, statement in scope.every(ast.Call):
        called = scope.text.of(node.func).split(".")[-1]
        if called in ("range", "arange") and 0 < len(node.args) < 3:
            start, stop = scope.text.span(node.args[0])[0], scope.text.span(node.args[-1])[1]
            # The texts of the start and of the end; a range with one argument starts at 0.
            ends = ["0", *(whole_text(scope, part) for part in node.args)][-2:]
            if isinstance(node.args[-1], ast.Constant):
                for name in scope.tensors(node)[:8]:
                    yield edit(scope, "range", node.args[-1], f"len({name})", statement)
            for sign in "+-":
                last = f"{ends[1]} {sign} 1"
                for first in (ends[0], f"{ends[0]} {sign} 1"):
                    yield Edit("range", ((start, stop, f"{first}, {last}"),), (start, stop), statement.lineno)


def _permutations(scope: Scope, node: ast.Call, statement: ast.stmt) -> Iterator[Edit]:
    """Yield every other order of the arguments of `permute`; none if there are more than four arguments."""
    texts = [scope.text.of(a) for a in node.args]
    if len(texts) > 4:
        return
    for order in permutations(texts):
        if list(order) != texts:
            new = f"{scope.text.of(node.func)}({', '.join(order)})"
            yield edit(scope, "argument order", node, new, statement)


def _subscripts(scope: Scope) -> Iterator[Edit]:
    """Drop a subscript, exchange neighbouring axes, or change the bounds of a slice.

    Also move all indices by one axis, unless the first index is a constant such as `0`, `-1` or `None`.
    """
    for node, statement in scope.every(ast.Subscript):
        before = whole_text(scope, node.value)
        yield edit(scope, "subscript", node, before, statement)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        texts = [scope.text.of(part) for part in parts]
        if not isinstance(parts[0], (ast.Constant, ast.UnaryOp)):
            moved = texts[1:] if texts[0] == ":" and len(texts) > 1 else [":", *texts]
            yield edit(scope, "slice axis", node, f"{before}[{', '.join(moved)}]", statement)
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
    """Yield other bounds: exchanged, without one bound, or one bound moved by 1. A missing bound is ""."""
    if not low and not high:
        return
    yield f"{high}:{low}"
    if low and high:
        yield from (f"{low}:", f":{high}")
    # `operators._constants` changes numbers.
    if low and not low.lstrip("-").isdigit():
        yield from (f"{low} + 1:{high}", f"{low} - 1:{high}")
    if high and not high.lstrip("-").isdigit():
        yield from (f"{low}:{high} + 1", f"{low}:{high} - 1")


EXPRESSIONS: tuple[Operator, ...] = (
    _drop_call,
    _sides,
    _comparisons,
    _functions_of_a_family,
    _swapped_functions,
    _arguments,
    _ranges,
    _subscripts,
)

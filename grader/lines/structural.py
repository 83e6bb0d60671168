"""Edits that no row of a table can say: of numbers, of several places, of arguments. Each function takes one scope."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from grader.lines.edit import Edit
from grader.lines.scope import MODELS, Scope

MAX_EXCHANGED = 12  # targets of an assignment
MAX_NUMBER = 1 << 63
COMMON_DECIMALS = ("-1e6", "10000.0", "1e-5", "0.0", "1.0", "2.0", "0.5")
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
# Function or class → keywords that its calls may lack.
KEYWORDS = {
    "repeat_interleave": ("dim=0", "dim=1"),
    "softmax": ("dim=-1", "dim=1"),
    "Linear": ("bias=False",),
    "var": ("unbiased=False", "keepdim=True"),
    "std": ("unbiased=False", "keepdim=True"),
    "var_mean": ("unbiased=False",),
    "squeeze": ("dim=-1",),
    "Embedding": ("padding_idx=0", "padding_idx=1"),
    "dropout": ("training=self.training",),
    **dict.fromkeys(("sum", "mean", "max", "amax"), ("keepdim=True", "dim=-1", "dim=0", "dim=1", "dim=2")),
    **dict.fromkeys(("cat", "stack", "argmax", "argmin", "all", "any"), ("dim=-1", "dim=0", "dim=1")),
}
# Functions that may lack the device or the dtype of another tensor.
MAKES_TENSORS = ("arange", "zeros", "ones", "full", "tensor", "empty", "eye")


def replaced(scope: Scope, kind: str, node: ast.AST, new: str, statement: ast.stmt) -> Edit:
    span = scope.text.span(node)
    return Edit(kind, ((*span, new),), span, statement.lineno)


# ---- one place, by its value or its name


def numbers(scope: Scope) -> Iterator[Edit]:
    """Replace a number by similar and common ones, an axis by another small one."""
    for node, statement in scope.expressions:
        value = _number(node)
        for kind, text in _others(value, id(node) in scope.roles["axis"]) if value is not None else ():
            if text != scope.text.of(node):
                yield replaced(scope, kind, node, f"({text})" if text[0] == "-" else text, statement)


def _others(value: int | float, is_axis: bool) -> Iterator[tuple[str, str]]:
    """Yield other numbers, each with the kind of the edit."""
    # "-inf" fits into every floating dtype, unlike -1e9
    if isinstance(value, float):
        near = [repr(-value), repr(1 - value), *COMMON_DECIMALS]
        near += [repr(value * factor) for factor in (10.0, 100.0, 0.1, 0.01, 1000.0)]
        yield from (("decimal number", text) for text in dict.fromkeys(("float('-inf')", *near)))
        return
    whole = [-1, -2, 0, 1, 2, 3] if is_axis else [value - 1, value + 1, -value, -1, -2, 0, 1, 2, 3]
    yield from (("axis" if is_axis else "whole number", str(new)) for new in dict.fromkeys(whole))
    if not is_axis:
        texts = (str(value * 10), str(value * 100), str(max(value // 10, 1)), "float('-inf')", "-1e6", "0.5")
        yield from (("large number", text) for text in texts)


def _number(node: ast.expr) -> int | float | None:
    """Return the number that a constant writes, with its sign; None for any other node, and above MAX_NUMBER.

    Python refuses to write very long numbers.
    """
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            value = -value
        case ast.Constant(value=int() | float() as value):
            pass
        case _:
            return None
    too_long = isinstance(value, bool) or (isinstance(value, int) and abs(value) > MAX_NUMBER)
    return None if too_long else value


def functions(scope: Scope) -> Iterator[Edit]:
    """Choose another function of the same family, or the name without its last underscore."""
    for node, statement in scope.expressions:
        name = getattr(node, "attr", "") or getattr(node, "id", "")
        if not name or (isinstance(node, ast.Name) and name in scope.names):
            continue
        others = [other for family in FAMILIES if name in family for other in family if other != name]
        others += [name[:-1]] if name.endswith("_") and not name.endswith("__") else []
        stop = scope.text.span(node)[1]
        for other in dict.fromkeys(others):
            piece = (stop - len(name.encode()), stop, other)
            yield Edit("function", (piece,), scope.text.span(node), statement.lineno)


def added_arguments(scope: Scope) -> Iterator[Edit]:
    """Pass one more keyword, or a name, to a call."""
    for node, statement in scope.calls():
        called = scope.text.of(node.func).split(".")
        if called == ["super()", "__init__"]:  # it takes the arguments of the base class
            called.append(scope.owner.base)
        passed = {keyword.arg for keyword in node.keywords}
        new = [text for text in KEYWORDS.get(called[-1], ()) if text.split("=")[0] not in passed]
        if called[-1] in MAKES_TENSORS:
            makers = [f"{k}={n}.{k}" for n in scope.tensors(node)[:2] for k in ("device", "dtype")]
            new += [text for text in makers if text.split("=")[0] not in passed]
        if len(called) == 1 or called[0] in ("self", *MODELS):
            # A name after a keyword needs a keyword, too.
            new += [f"{n}={n}" if passed else n for n in scope.near(node)[:10] if n not in passed]
        span = scope.text.span(node)
        stop = span[1] - 1
        if scope.text.raw[max(stop - 1000, 0) : stop].rstrip().endswith(b","):
            continue  # a second comma would be an error
        for text in new:
            argument = f", {text}" if node.args or node.keywords else text
            # A name may imitate an edit elsewhere; `dim=1` cannot.
            imitates = text.split("=")[0] in scope.names
            yield Edit("add argument", ((stop, stop, argument),), span, statement.lineno, imitates)


# ---- several places

# Kind of an edit of one place → the kind of the same edit at all places, and of it together with its reverse.
EVERYWHERE = {
    "name": ("everywhere", "exchange"),
    "attribute": ("everywhere", "exchange layers"),
    "function": ("everywhere", "exchange"),
    "whole number": ("everywhere", "exchange"),
    "name for constant": ("names for constants", ""),
    "add argument": ("add arguments", ""),
    "unknown name": ("unknown name", ""),
}


def everywhere(scope: Scope, edits: Iterable[Edit]) -> Iterator[Edit]:
    """Join the edits that make the same change at all places of a function; exchange two names wherever they are read."""
    same: dict[tuple[str, str, str], list[Edit]] = defaultdict(list)
    for edit in edits:
        start, stop, new = edit.pieces[0]
        same[edit.kind, scope.text.raw[start:stop].decode(), new].append(edit)
    for (kind, old, new), each in same.items():
        everywhere, exchange = EVERYWHERE[kind]
        if len(each) > 1:
            yield _joined(everywhere, each)
        both = [*each, *same.get((kind, new, old), ())]
        lines = {edit.statement for edit in both}
        # Two names that are each read once, in different lines, are rarely exchanged by mistake.
        likely = kind != "name" or len(both) > 2 or len(lines) == 1 or scope.is_constructor
        if old < new and len(both) > len(each) and likely:
            yield _joined(exchange, sorted(both, key=lambda edit: edit.at))


def _joined(kind: str, edits: Sequence[Edit]) -> Edit:
    return Edit(kind, tuple(edit.pieces[0] for edit in edits), edits[0].at, edits[0].statement)


def arguments(scope: Scope) -> Iterator[Edit]:
    """Exchange two arguments or elements; drop an argument or a keyword."""
    text = scope.text
    for node, statement in scope.expressions:
        parts: list[ast.expr] = list(getattr(node, "elts", ()))
        if isinstance(node, ast.Call):
            parts = [*node.args, *(k.value for k in node.keywords)]
            whole = [text.of(part) for part in (*node.args, *node.keywords)]
            for index, part in enumerate(parts):
                new = f"{text.of(node.func)}({', '.join([*whole[:index], *whole[index + 1 :]])})"
                yield Edit("drop argument", ((*text.span(node), new),), text.span(part), statement.lineno)
        for one, other in combinations(parts[:6], 2):
            if text.of(one) != text.of(other) and not isinstance(one, ast.Starred):
                yield exchanged(scope, "argument order", one, other, statement)


def exchanged(scope: Scope, kind: str, one: ast.AST, other: ast.AST, statement: ast.stmt) -> Edit:
    """Return the edit that exchanges two nodes, of which `one` comes first."""
    first, second = scope.text.span(one), scope.text.span(other)
    pieces = ((*first, scope.text.of(other)), (*second, scope.text.of(one)))
    return Edit(kind, pieces, (first[0], second[1]), statement.lineno)


def moved_calls(scope: Scope) -> Iterator[Edit]:
    """Move a call such as `self.layer(…)` or `….relu()` from around one expression to around another."""
    raw = scope.text.raw
    sites = [scope.text.span(node) for node, _s in scope.expressions if id(node) in scope.roles["site"]]
    for node, statement in scope.calls():
        inner = _wrapped(scope, node)
        if inner is None:
            continue
        start, stop = scope.text.span(node)
        before, after = raw[start : inner[0]].decode(), raw[inner[1] : stop].decode()
        opened, closed = (before, after) if before else ("(", f"){after}")
        for first, last in sites:
            around = first <= start and stop <= last
            beside = last <= start or stop <= first
            inside = inner[0] <= first and last <= inner[1]
            if (around or beside or inside) and (first, last) not in (inner, (start, stop)):
                removed = (start, inner[0], ""), (inner[1], stop, "")
                pieces = (*removed, (first, first, opened), (last, last, closed))
                yield Edit("move call", pieces, (start, stop), statement.lineno)


def _wrapped(scope: Scope, node: ast.Call) -> tuple[int, int] | None:
    """Return where `X` is, in bytes, in a call such as `self.layer(X)`, `torch.relu(X)` or `X.relu()`."""
    if not isinstance(node.func, ast.Attribute):
        return None
    owner = scope.text.of(node.func).split(".")[0]
    if owner in ("self", "torch", "F", "nn", "math") and len(node.args) == 1:
        return scope.text.span(node.args[0])
    constant = all(isinstance(part, ast.Constant) for part in (*node.args, *(k.value for k in node.keywords)))
    return scope.text.span(node.func.value) if constant and owner in scope.names else None


MAKERS = (numbers, functions, added_arguments, arguments, moved_calls)

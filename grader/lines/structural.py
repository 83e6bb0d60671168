"""Edits that no row of a table can say: of numbers, arguments, statements and several places. Each function takes one scope."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations, pairwise

from grader.lines.places import Edit, Span
from grader.lines.scope import Scope

MAX_NUMBER = 1 << 63
MODELS = ("model", "mha", "net", "module")  # usual names of a parameter that is a model
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


# ---- one place, by its value or its name


def numbers(scope: Scope) -> Iterator[Edit]:
    """Replace a number by similar and common ones, an axis by another small one."""
    for node, statement in scope.expressions:
        value = _number(node)
        for kind, text in _others(value, id(node) in scope.roles["AXIS"]) if value is not None else ():
            if text != scope.text.of(node):
                yield scope.edit(kind, statement, (node, f"({text})" if text[0] == "-" else text))


def _others(value: int | float, is_axis: bool) -> Iterator[tuple[str, str]]:
    """Yield other numbers, each with the kind of the edit."""
    if isinstance(value, float):
        near = [repr(-value), repr(1 - value), *COMMON_DECIMALS]
        near += [repr(value * factor) for factor in (10.0, 100.0, 0.1, 0.01, 1000.0)]
        # "-inf" fits into every floating dtype, unlike -1e9
        yield from (("decimal number", text) for text in dict.fromkeys(("float('-inf')", *near)))
    elif is_axis:
        yield from (("axis", str(new)) for new in (-1, -2, 0, 1, 2, 3))
    else:
        whole = (value - 1, value + 1, -value, -1, -2, 0, 1, 2, 3)
        yield from (("whole number", str(new)) for new in dict.fromkeys(whole))


def _number(node: ast.expr) -> int | float | None:
    """Return the number that a constant writes, with its sign; None for any other node, and above MAX_NUMBER.

    Python refuses to write very long numbers.
    """
    negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    value = getattr(node.operand if negative else node, "value", None)  # type: ignore[attr-defined]
    if type(value) is float or (type(value) is int and abs(value) <= MAX_NUMBER):
        return -value if negative else value
    return None


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
            yield scope.edit("function", statement, ((stop - len(name.encode()), stop), other), at=node)


# ---- arguments


def added_arguments(scope: Scope) -> Iterator[Edit]:
    """Pass one more keyword, or a name, to a call."""
    for node, statement in scope.calls:
        called = scope.text.of(node.func).split(".")
        if called == ["super()", "__init__"]:  # it takes the arguments of the base class
            called.append(scope.owner.base)
        passed = {keyword.arg for keyword in node.keywords}
        new = list(KEYWORDS.get(called[-1], ()))
        if called[-1] in MAKES_TENSORS:
            new += [f"{name}={n}.{name}" for n in scope.tensors(node)[:2] for name in ("device", "dtype")]
        if len(called) == 1 or called[0] in ("self", *MODELS):
            # A name after a keyword needs a keyword, too.
            new += [f"{name}={name}" if passed else name for name in scope.near(node)[:10]]
        stop = scope.text.span(node)[1] - 1
        if scope.text.raw[max(stop - 1000, 0) : stop].rstrip().endswith(b","):
            continue  # a second comma would be an error
        for text in new:
            name = text.split("=")[0]
            if name not in passed:
                argument = f", {text}" if node.args or node.keywords else text
                # A name may imitate an edit elsewhere; `dim=1` cannot.
                change = ((stop, stop), argument)
                yield scope.edit("add argument", statement, change, at=node, inserts=name in scope.names)


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
                yield scope.edit("drop argument", statement, (node, new), at=part)
        for one, other in combinations(parts[:6], 2):
            if text.of(one) != text.of(other) and not isinstance(one, ast.Starred):
                yield _exchanged(scope, "argument order", one, other, statement)


def _exchanged(scope: Scope, kind: str, one: ast.AST, other: ast.AST, statement: ast.AST) -> Edit:
    """Return the edit that exchanges two nodes, of which `one` comes first."""
    return scope.edit(kind, statement, (one, scope.text.of(other)), (other, scope.text.of(one)))


def moved_calls(scope: Scope) -> Iterator[Edit]:
    """Move a call such as `self.layer(…)` or `….relu()` from around one expression to around another."""
    raw = scope.text.raw
    sites = [scope.text.span(node) for node, _s in scope.expressions if id(node) in scope.roles["SITE"]]
    for node, statement in scope.calls:
        inner = _wrapped(scope, node)
        if inner is None:
            continue
        start, stop = scope.text.span(node)
        before, after = raw[start : inner[0]].decode(), raw[inner[1] : stop].decode()
        opened, closed = (before, after) if before else ("(", f"){after}")
        removed = ((start, inner[0]), ""), ((inner[1], stop), "")
        for first, last in sites:
            around = first <= start and stop <= last
            beside = last <= start or stop <= first
            inside = inner[0] <= first and last <= inner[1]
            if (around or beside or inside) and (first, last) not in (inner, (start, stop)):
                put = ((first, first), opened), ((last, last), closed)
                yield scope.edit("move call", statement, *removed, *put, at=node)


def _wrapped(scope: Scope, node: ast.Call) -> Span | None:
    """Return where `X` is in a call such as `self.layer(X)`, `torch.relu(X)` or `X.relu()`."""
    if not isinstance(node.func, ast.Attribute):
        return None
    owner = scope.text.of(node.func).split(".")[0]
    if owner in ("self", "torch", "F", "nn", "math") and len(node.args) == 1:
        return scope.text.span(node.args[0])
    constant = all(isinstance(part, ast.Constant) for part in (*node.args, *(k.value for k in node.keywords)))
    return scope.text.span(node.func.value) if constant and owner in scope.names else None


# ---- statements


def changed_statements(scope: Scope) -> Iterator[Edit]:
    """Drop a statement, or leave out a `with` or a decorator, such as `no_grad`. Exchange two targets, or neighbours.

    In a constructor, make a layer of its own: `self.a = self.b` → `self.a = Layer(…)`.
    """
    made: dict[str, str] = {}
    drops = (ast.Assign, ast.AugAssign, ast.Expr, ast.If, ast.For, ast.Return, ast.Break, ast.Continue)
    for statement in scope.statements():
        if isinstance(statement, drops) and not _is_text(statement):
            yield scope.edit("drop statement", statement, (statement, "pass"))
        match statement:
            case ast.With(items=[*_, ast.withitem(context_expr=last, optional_vars=None)]):
                whole = (scope.text.span(statement)[0], scope.text.span(last)[1])
                yield scope.edit("context", statement, (whole, "if True"))
            case ast.Assign(targets=[ast.Tuple(elts=[one, other])]):
                yield _exchanged(scope, "target order", one, other, statement)
            case ast.Assign(targets=[ast.Attribute() as target], value=value) if scope.is_constructor:
                text = scope.text.of(value)
                if text in made:
                    yield scope.edit("own layer", statement, (value, made[text]))
                made |= {scope.text.of(target): text} if isinstance(value, ast.Call) else {}
    for above, below in pairwise(scope.body):
        if not _is_text(above) and not isinstance(below, (ast.Return, ast.FunctionDef)):
            yield _exchanged(scope, "statement order", above, below, above)
    for decorator in scope.function.decorator_list if scope.function else ():
        start, stop = scope.text.span(decorator)
        yield scope.edit("context", decorator, ((start - 1, stop), "# "))  # from the "@"


def added_statements(scope: Scope) -> Iterator[Edit]:
    """Return a name at the end; call `eval()` or `train()` of a parameter that is a model, before its first use."""
    # No line can follow a body in the line of `def`.
    if scope.function is None or scope.is_constructor or scope.body[0].lineno == scope.function.lineno:
        return
    last = scope.body[-1]
    if not isinstance(last, (ast.Return, ast.Raise)):
        stop, indent = scope.text.span(last)[1], " " * last.col_offset
        # The new line follows the last line of a block, so a report names that line and not the block's head.
        above = max((one for one in ast.walk(last) if isinstance(one, ast.stmt)), key=lambda one: one.lineno)
        for name in scope.tensors(last):
            change = ((stop, stop), f"\n{indent}return {name}")
            yield scope.edit("return", above, change, at=above, inserts=True)
    for model in [one.arg for one in scope.function.args.args[:3] if one.arg in MODELS]:
        use = re.compile(
            rf"\b{model}[.\w]*\([^)]|\bpass\b"
        )  # `pass` probably stands where a line was removed
        statement = next((one for one in scope.body if use.search(scope.text.of(one))), last)
        start, indent = scope.text.span(statement)[0], " " * statement.col_offset
        for mode in ("eval", "train"):
            change = ((start, start), f"{model}.{mode}()\n{indent}")
            yield scope.edit("insert statement", statement, change, at=statement, inserts=True)


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


# ---- several places

# Kinds of edits that are also made at all places of a function at once. Kind of an edit → of it together with its reverse.
EVERYWHERE = ("name for constant", "unknown name", "add argument")
EXCHANGED = {"name": "exchange", "function": "exchange", "attribute": "exchange layers"}


def everywhere(scope: Scope, edits: Iterable[Edit]) -> Iterator[Edit]:
    """Join the edits that make the same change at all places of a function; exchange two names wherever they are read."""
    same: dict[tuple[str, str, str], list[Edit]] = defaultdict(list)
    for edit in edits:
        if edit.kind in (*EVERYWHERE, *EXCHANGED) and not edit.inserts:
            start, stop, new = edit.pieces[0]
            same[edit.kind, scope.text.raw[start:stop].decode(), new].append(edit)
    for (kind, old, new), each in same.items():
        if kind in EVERYWHERE and len(each) > 1:
            yield _joined("everywhere", each)
        both = [*each, *same.get((kind, new, old), ())] if kind in EXCHANGED and old < new else []
        # Two names that are each read once, in different lines, are rarely exchanged by mistake.
        lines = {edit.statement for edit in both}
        likely = kind != "name" or len(both) > 2 or len(lines) == 1 or scope.is_constructor
        if len(both) > len(each) and likely:
            yield _joined(EXCHANGED[kind], sorted(both, key=lambda edit: edit.at))


def _joined(kind: str, edits: list[Edit]) -> Edit:
    return replace(edits[0], kind=kind, pieces=tuple(edit.pieces[0] for edit in edits))


MAKERS = (numbers, functions, added_arguments, arguments, moved_calls, changed_statements, added_statements)

"""Edits that put something in, such as a call around an expression, a factor or an argument."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.lines.operators import MODELS, Operator, edit, whole_text
from grader.lines.scope import Scope
from grader.lines.source_edit import Edit

TRANSPOSES = (".transpose(1, 2)", ".transpose(-2, -1)", ".transpose(0, 1)")
# Parts of names of attributes that probably hold a size.
SIZES = ("num", "size", "dim", "hidden", "embed", "d_", "scale", "width")
MAX_WRAPS = 14  # of `Scope.wraps`, the first ones


def _sites(scope: Scope) -> Iterator[tuple[ast.expr, ast.stmt]]:
    """Yield expressions around which a call may be put; none in a constructor.

    Skip constants, tuples, lists, f-strings, lambdas, `and` and `or`, sizes, names that are not local, indices,
    comparisons by `is`, and `f` in `f()`, `a.b` in `a.b.c`, `x` in `x[0]`.
    """
    skipped: set[int] = set()
    for node, statement in scope.expressions:
        if isinstance(node, ast.Call):
            skipped.add(id(node.func))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
            skipped.add(id(node.value))
        if isinstance(node, ast.Subscript):
            skipped |= {id(node.value), *(id(part) for part in ast.walk(node.slice))}
        if isinstance(node, ast.Compare) and any(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops):
            skipped |= {id(part) for part in ast.walk(node)}
        if id(node) in skipped or isinstance(
            node, (ast.Constant, ast.Tuple, ast.Starred, ast.Slice, ast.JoinedStr)
        ):
            continue
        if isinstance(node, ast.Name) and (node.id not in scope.names or node.id in scope.sizes):
            continue
        if not scope.is_constructor and not isinstance(node, (ast.BoolOp, ast.Lambda, ast.List, ast.keyword)):
            yield node, statement


def _wraps(scope: Scope) -> Iterator[Edit]:
    """Put a call of the same class or function around an expression; see `scope._wraps`."""
    for before, after in scope.wraps[:MAX_WRAPS]:
        name = "layer" if before.startswith("self.") else "call"
        for node, statement in _sites(scope):
            text = scope.text.of(node) if before else whole_text(scope, node)
            if before and text.startswith(before):
                continue
            yield edit(scope, f"insert {name}", node, f"{before}{text}{after}", statement, inserts=True)


def _unused_layers(scope: Scope) -> Iterator[Edit]:
    """Call a layer that the class never reads: on an expression, both sides of a sum, or a name and an expression."""
    if scope.is_constructor:
        return
    for layer in scope.unused[:3]:
        for node, statement in _sites(scope):
            text = scope.text.of(node)
            yield edit(scope, "unused layer", node, f"self.{layer}({text})", statement, inserts=True)
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
                both = f"self.{layer}({scope.text.of(node.left)}, {scope.text.of(node.right)})"
                yield edit(scope, "unused layer", node, both, statement)
            if isinstance(node, (ast.Call, ast.BinOp)):
                for name in scope.tensors(node)[:8]:
                    new = f"self.{layer}({name}, {text})"
                    yield edit(scope, "unused layer", node, new, statement, inserts=True)


def _vocabulary(scope: Scope) -> Iterator[Edit]:
    """Apply `tanh`, `relu`, `exp` or `abs` to a call or operation, if a file with torch does not call it yet."""
    for name in ("tanh", "relu", "exp", "abs"):
        if f"{name}(" in scope.text.source or "torch" not in scope.text.source:
            continue
        for node, statement in _sites(scope):
            if isinstance(node, (ast.Call, ast.BinOp)):
                new = f"{whole_text(scope, node)}.{name}()"
                yield edit(scope, "insert function", node, new, statement, inserts=True)


def _moved_wraps(scope: Scope) -> Iterator[Edit]:
    sites = [scope.text.span(node) for node, _statement in _sites(scope)]
    for node, statement in scope.every(ast.Call):
        inner = _wrapped(scope, node)
        if inner is None:
            continue
        start, stop = scope.text.span(node)
        before = scope.text.raw[start : inner[0]].decode()
        after = scope.text.raw[inner[1] : stop].decode()
        for first, last in sites:
            around = first <= start and stop <= last
            beside = last <= start or stop <= first
            inside = inner[0] <= first and last <= inner[1]
            if (around or beside or inside) and (first, last) not in (inner, (start, stop)):
                removed = (start, inner[0], ""), (inner[1], stop, "")
                pieces = (*removed, (first, first, before), (last, last, after))
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


def _transposes(scope: Scope) -> Iterator[Edit]:
    for node, statement in _sites(scope):
        for after in TRANSPOSES:
            new = whole_text(scope, node) + after
            yield edit(scope, "insert transpose", node, new, statement, inserts=True)


def _signs(scope: Scope) -> Iterator[Edit]:
    """Negate a mask, a value, or a condition."""
    for node, statement in _sites(scope):
        text = whole_text(scope, node)
        if isinstance(node, (ast.Name, ast.Compare, ast.Call, ast.BinOp)):
            yield edit(scope, "sign", node, f"(~{text})", statement, inserts=True)
            yield edit(scope, "sign", node, f"(-{text})", statement, inserts=True)
    for statement in scope.statements():
        if isinstance(statement, (ast.If, ast.While)):
            new = f"not {whole_text(scope, statement.test)}"
            yield edit(scope, "condition", statement.test, new, statement)


def _factors(scope: Scope) -> Iterator[Edit]:
    """Multiply or divide by the root of a size or by 2; square; add or subtract 1."""
    own = [name for name in scope.attributes if name not in scope.layers]
    roots = [f"self.{name}" for name in own if any(part in name for part in SIZES)]
    roots += [name for name in scope.names if name in scope.sizes]
    for node, statement in _sites(scope):
        if not isinstance(node, (ast.Call, ast.BinOp, ast.Name)):
            continue
        text = whole_text(scope, node)
        for size in (f"{text}.shape[-1]", *roots[:4]):
            yield edit(scope, "factor", node, f"({text} * {size} ** 0.5)", statement, inserts=True)
            yield edit(scope, "factor", node, f"({text} / {size} ** 0.5)", statement, inserts=True)
        for new in (f"({text} * 2)", f"({text} / 2)", f"({text} ** 2)", f"({text} + 1)", f"({text} - 1)"):
            yield edit(scope, "factor", node, new, statement, inserts=True)


def _terms(scope: Scope) -> Iterator[Edit]:
    """Add a name of the scope: a residual connection or a bias."""
    if scope.is_constructor:
        return
    for node, statement in _sites(scope):
        if isinstance(node, (ast.Call, ast.BinOp)):
            for name in scope.tensors(node)[:6]:
                yield edit(scope, "term", node, f"({name} + {scope.text.of(node)})", statement, inserts=True)


KEYWORDS = {  # function or class → keywords that its calls may lack
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
MAKERS = ("arange", "zeros", "ones", "full", "tensor", "empty", "eye")


def _added_arguments(scope: Scope) -> Iterator[Edit]:
    for node, statement in scope.every(ast.Call):
        name = scope.text.of(node.func).split(".")[-1]
        # `super().__init__()` takes the arguments of the base class.
        if scope.text.of(node.func).startswith("super"):
            name = scope.base if name == "__init__" else ""
        new = list(KEYWORDS.get(name, ()))
        if name in MAKERS:
            new += [f"{k}={n}.{k}" for n in scope.tensors(node)[:2] for k in ("device", "dtype")]
        if isinstance(node.func, ast.Name) or scope.text.of(node.func).split(".")[0] in ("self", *MODELS):
            new += scope.near(node)[:10]
        passed = {k.arg for k in node.keywords}
        stop = scope.text.span(node)[1] - 1
        if _ends_in_comma(scope, stop):  # a second comma would be an error
            continue
        comma = ", " if node.args or node.keywords else ""
        for text in new:
            key = text.split("=")[0]
            if key in passed:
                continue
            is_name = "=" not in text
            # A name after a keyword needs a keyword, too.
            argument = f"{key}={key}" if is_name and passed else text
            pieces = ((stop, stop, comma + argument),)
            # A name may imitate an edit elsewhere; `dim=1` cannot.
            yield Edit("add argument", pieces, scope.text.span(node), statement.lineno, inserts=is_name)


def _ends_in_comma(scope: Scope, stop: int) -> bool:
    return scope.text.raw[max(stop - 1000, 0) : stop].rstrip().endswith(b",")


def _added_everywhere(scope: Scope) -> Iterator[Edit]:
    """Pass one more keyword to each call of one function that lacks it, such as `bias=False` to each `nn.Linear`."""
    calls: dict[str, list[tuple[ast.Call, ast.stmt]]] = {}
    for node, statement in scope.every(ast.Call):
        if node.args:
            calls.setdefault(scope.text.of(node.func).split(".")[-1], []).append((node, statement))
    for name, places in calls.items():
        if len(places) < 2:
            continue
        for text in KEYWORDS.get(name, ()):
            lacking = [
                (node, s) for node, s in places if text.split("=")[0] not in {k.arg for k in node.keywords}
            ]
            stops = [scope.text.span(node)[1] - 1 for node, _s in lacking]
            if len(stops) > 1 and not any(_ends_in_comma(scope, stop) for stop in stops):
                first, statement = lacking[0]
                pieces = tuple((stop, stop, f", {text}") for stop in stops)
                yield Edit("add arguments", pieces, scope.text.span(first), statement.lineno)


def _clones(scope: Scope) -> Iterator[Edit]:
    for node, statement in _sites(scope):
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            yield edit(scope, "copy", node, f"{scope.text.of(node)}.clone()", statement, inserts=True)


INSERTIONS: tuple[Operator, ...] = (
    _unused_layers,
    _wraps,
    _vocabulary,
    _moved_wraps,
    _transposes,
    _signs,
    _factors,
    _terms,
    _added_arguments,
    _added_everywhere,
    _clones,
)

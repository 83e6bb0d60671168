"""Edits that no row of a table can say: of numbers, arguments, statements and several places. Each function takes one scope."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations

from grader.lines.places import Edit
from grader.lines.scope import Scope

NUMBER = re.compile(r"-?\.?\d[\d.]{0,18}(e[+-]?\d+)?")
MODELS = ("model", "mha", "net", "module")  # usual names of a parameter that is a model
COMMON_DECIMALS = ("-1e6", "10000.0", "1e-5", "0.0", "1.0", "2.0", "0.5")
# Functions that may be taken for one another.
FAMILIES = (
    ("softmax", "log_softmax", "sigmoid"),
    ("relu", "gelu", "tanh", "sigmoid"),
    ("sum", "mean", "max", "amax"),
    ("view", "reshape"),
    ("repeat", "repeat_interleave", "expand"),
    ("tril", "triu"),
    ("zeros", "ones"),
    ("zeros_like", "ones_like"),
    ("sin", "cos"),
    ("argmax", "argmin"),
    ("exp", "log", "abs", "square", "sqrt"),
    ("min", "max"),
    ("cat", "stack"),
    ("any", "all"),
)
# Function or class → keywords that its calls may lack.
KEYWORDS = {
    "repeat_interleave": ("dim=0", "dim=1"),
    "softmax": ("dim=-1", "dim=1"),
    "Linear": ("bias=False",),
    "squeeze": ("dim=-1",),
    "dropout": ("training=self.training",),
    **dict.fromkeys(("Embedding", "__init__"), ("padding_idx=0", "padding_idx=1")),  # also of a base class
    **dict.fromkeys(("sum", "mean", "max", "amax"), ("keepdim=True", "dim=-1", "dim=1")),
    **dict.fromkeys(("cat", "stack", "argmax", "argmin", "all", "any"), ("dim=-1", "dim=0", "dim=1")),
}


# ---- one place


def numbers(scope: Scope) -> Iterator[Edit]:
    """Replace a number by similar and common ones, an axis by another small one."""
    for node, statement in scope.expressions:
        text = scope.text.of(node)
        if not NUMBER.fullmatch(text):
            continue
        value = ast.literal_eval(text)
        if isinstance(value, float):
            near = (-value, 1 - value, *(value * factor for factor in (10.0, 100.0, 0.1, 0.01, 1000.0)))
            # "-inf" fits into every floating dtype, unlike -1e9
            kind, others = "decimal number", ["float('-inf')", *map(repr, near), *COMMON_DECIMALS]
        elif id(node) in scope.roles["AXIS"]:
            kind, others = "axis", [str(new) for new in (-1, -2, 0, 1, 2, 3)]
        else:
            near = (value - 1, value + 1, -value, -1, -2, 0, 1, 2, 3)
            kind, others = "whole number", [str(new) for new in near]
        for new in dict.fromkeys(others):
            if new != text:
                yield scope.edit(kind, statement, (node, f"({new})" if new[0] == "-" else new))


def functions(scope: Scope) -> Iterator[Edit]:
    """Choose another function of the same family."""
    for node, statement in scope.expressions:
        name = getattr(node, "attr", "") or getattr(node, "id", "")
        others = [other for family in FAMILIES if name in family for other in family if other != name]
        stop = scope.text.span(node)[1]
        for other in dict.fromkeys(others):
            yield scope.edit("function", statement, ((stop - len(name.encode()), stop), other), at=node)


def added_arguments(scope: Scope) -> Iterator[Edit]:
    """Pass one more keyword to a call."""
    for node, statement in scope.expressions:
        if not isinstance(node, ast.Call):
            continue
        stop = scope.text.span(node)[1] - 1
        passed = {keyword.arg for keyword in node.keywords}
        for text in KEYWORDS.get(scope.text.of(node.func).split(".")[-1], ()):
            if text.split("=")[0] not in passed:
                change = ((stop, stop), f", {text}" if node.args or node.keywords else text)
                yield scope.edit("add argument", statement, change, at=node)


def exchanged_arguments(scope: Scope) -> Iterator[Edit]:
    """Exchange two arguments, elements or targets."""
    of = scope.text.of
    targets = [
        (target, one) for one in scope.statements if isinstance(one, ast.Assign) for target in one.targets
    ]
    for node, statement in (*scope.expressions, *targets):
        parts: list[ast.expr] = list(getattr(node, "elts", ()))
        if isinstance(node, ast.Call):
            parts = [*node.args, *(k.value for k in node.keywords)]
        for one, other in combinations(parts[:6], 2):
            if of(one) != of(other) and not isinstance(one, ast.Starred):
                yield scope.edit("argument order", statement, (one, of(other)), (other, of(one)))


def moved_calls(scope: Scope) -> Iterator[Edit]:
    """Move a call such as `self.layer(X)` from around one expression to around another."""
    raw = scope.text.raw
    sites = [scope.text.span(node) for node, _s in scope.expressions if id(node) in scope.roles["SITE"]]
    for node, statement in scope.expressions:
        match node:
            case ast.Call(ast.Attribute(ast.Name("self")), [argument], []):
                (start, stop), inner = scope.text.span(node), scope.text.span(argument)
                before, after = (start, inner[0]), (inner[1], stop)
                opened, closed = (raw[slice(*part)].decode() for part in (before, after))
                for first, last in sites:
                    if (first, last) not in (inner, (start, stop)):
                        put = ((first, first), opened), ((last, last), closed)
                        yield scope.edit("move call", statement, (before, ""), (after, ""), *put, at=node)


# ---- statements


def statements(scope: Scope) -> Iterator[Edit]:
    """Drop a statement; return a name at the end; call `eval()` or `train()` of a model before its first use."""
    drops = (ast.Assign, ast.AugAssign, ast.Expr, ast.If, ast.For, ast.Return, ast.Break, ast.Continue)
    for statement in scope.statements:
        is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if isinstance(statement, drops) and not is_text:
            yield scope.edit("drop statement", statement, (statement, "pass"))
        if isinstance(statement, ast.AugAssign):
            target, value = scope.text.of(statement.target), scope.text.of(statement.value)
            yield scope.edit("drop side", statement, (statement, f"{target} = {value}"))
    last = scope.body[-1]
    if scope.function is None or scope.is_constructor:
        return
    if not isinstance(last, (ast.Return, ast.Raise)):
        stop, indent = scope.text.span(last)[1], " " * last.col_offset
        # The new line follows the last line of a block, so a report names that line and not the block's head.
        above = scope.statements[-1]
        for name in scope.names:
            change = ((stop, stop), f"\n{indent}return {name}")
            yield scope.edit("return", above, change, at=above, inserts=True)
    for model in MODELS:
        # `pass` probably stands where a line was removed
        use = re.compile(rf"\b{model}[.\w]*\([^)]|\bpass\b")
        uses = [one for one in scope.body if use.search(scope.text.of(one))] if model in scope.names else []
        for statement in uses[:1]:
            start, indent = scope.text.span(statement)[0], " " * statement.col_offset
            for mode in ("eval", "train"):
                change = ((start, start), f"{model}.{mode}()\n{indent}")
                yield scope.edit("insert statement", statement, change, at=statement, inserts=True)


# ---- several places

# Kinds of edits that are also made at all places of a function at once, and those that are made with their reverse.
EVERYWHERE, EXCHANGED = ("name for constant", "add argument"), ("name", "function", "attribute")


def everywhere(scope: Scope, edits: Iterable[Edit]) -> Iterator[Edit]:
    """Join the edits that make the same change at all places of a function; exchange two names wherever they are read."""
    same: dict[tuple[str, str, str], list[Edit]] = defaultdict(list)
    for edit in edits:
        if edit.kind in (*EVERYWHERE, *EXCHANGED):
            start, stop, new = edit.pieces[0]
            same[edit.kind, scope.text.raw[start:stop].decode(), new].append(edit)
    for (kind, old, new), each in same.items():
        if kind in EVERYWHERE and len(each) > 1:
            yield _joined("everywhere", each)
        both = [*each, *same.get((kind, new, old), ())] if kind in EXCHANGED and old < new else []
        if len(both) > len(each):
            yield _joined("exchange", sorted(both, key=lambda edit: edit.at))


def _joined(kind: str, edits: list[Edit]) -> Edit:
    return replace(edits[0], kind=kind, pieces=tuple(edit.pieces[0] for edit in edits))


MAKERS = (numbers, functions, added_arguments, exchanged_arguments, moved_calls, statements)

"""Rewrite rules: find the expressions and statements that a pattern fits, and write what takes their place.

A pattern and its replacements are Python code with holes. In a pattern, a key of `HOLES` stands for an expression of its
kind, and `a` for any attribute. `*A` stands for all other arguments of a call, and `**K` for its keywords. In a
replacement, `*A` and `**K` are these arguments again, and `A` is each of them in turn. The keys of `OFFERS` are each
name that may stand there. `;` after a pattern says that it is a statement.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from itertools import product

from grader.lines.places import Edit
from grader.lines.scope import Scope

Found = dict[str, str | ast.expr | list[ast.expr] | list[ast.keyword]]  # hole → what it stands for
ATTRIBUTE = "a"
ROLES = ("ARGUMENT", "CONSTANT", "UNKNOWN", "MISSING", "SITE", "VALUE")  # see `Scope.roles`
HOLES: dict[str, Callable[[Scope, ast.AST], bool]] = {
    **dict.fromkeys("ABCDF", lambda scope, node: True),
    "R": lambda scope, node: scope.text.of(node).split(".")[-1] in ("range", "arange"),
    "X": lambda scope, node: not isinstance(getattr(node, "operand", node), ast.Constant),
    "V": lambda scope, node: isinstance(node, ast.Name) and node.id in scope.names,
    "O": lambda scope, node: not isinstance(node, ast.Name) or node.id in scope.names,
    **{role: lambda scope, node, role=role: id(node) in scope.roles[role] for role in ROLES},  # type: ignore[misc]
}
OFFERS: dict[str, Callable[[Scope, ast.AST], list[str]]] = {
    "NAME": Scope.near,
    "TENSOR": Scope.tensors,
    "ALIKE": Scope.alike,
    "ATTRIBUTE": lambda scope, _node: scope.owner.attributes,
    "UNUSED": lambda scope, _node: scope.owner.unused[:3],
}
HOLE = re.compile(rf"(\*{{0,2}}\b(?:{'|'.join((*OFFERS, *HOLES))}|K|(?<=\.)a)\b)")
ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant, ast.List, ast.Tuple)


class Rule:
    """One kind of edit: code that fits the pattern becomes each of the replacements. inserts: see `Edit`."""

    def __init__(self, kind: str, pattern: str, *new: str, inserts: bool = False):
        self.kind, self.inserts = kind, inserts
        self._tree, _is_bare = _parsed(pattern)
        self._templates = [one if _parsed(one)[1] else f"({one})" for one in new]

    def edits(self, scope: Scope) -> Iterator[Edit]:
        is_hole = isinstance(self._tree, ast.Name) and self._tree.id in HOLES
        for node, statement in scope.expressions if is_hole else scope.by_type.get(type(self._tree), ()):
            found: Found = {}
            if _fits(self._tree, node, found, scope):
                for template in self._templates:
                    for new in _written(template, found, scope, node):
                        if new != scope.text.of(node):
                            yield scope.edit(self.kind, statement, (node, new), inserts=self.inserts)


def _parsed(code: str) -> tuple[ast.AST, bool]:
    """Return the tree of a pattern, and whether it needs no parentheses beside an operator."""
    try:
        expression = ast.parse(f"_[{code}]", mode="eval").body  # so that `A:B` is an expression, too
    except SyntaxError:
        return ast.parse(code).body[0], True
    assert isinstance(expression, ast.Subscript)
    return expression.slice, isinstance(expression.slice, (*ATOMS, ast.Slice))


def _fits(pattern: object, node: object, found: Found, scope: Scope) -> bool:
    """Whether a pattern fits a node; then `found` has what its holes stand for."""
    if isinstance(pattern, ast.Name) and pattern.id in HOLES:
        if isinstance(node, ast.expr) and HOLES[pattern.id](scope, node):
            found[pattern.id] = node
        return pattern.id in found
    if isinstance(pattern, list):
        return isinstance(node, list) and _all_fit(pattern, node, found, scope)
    if not isinstance(pattern, ast.AST):
        if pattern == ATTRIBUTE:
            found[ATTRIBUTE] = node  # type: ignore[assignment]
        return pattern in (ATTRIBUTE, node) and type(pattern) is type(node)
    return type(pattern) is type(node) and all(
        _fits(getattr(pattern, name), getattr(node, name), found, scope)
        for name in pattern._fields
        if name not in ("ctx", "type_comment", "kind")
    )


def _all_fit(patterns: list[ast.AST], nodes: list[ast.AST], found: Found, scope: Scope) -> bool:
    """Whether patterns fit nodes one by one. A last `*A` or `**K` fits all that are left."""
    match patterns[-1:]:
        case [ast.Starred(value=ast.Name(id=hole)) | ast.keyword(arg=None, value=ast.Name(id=hole))]:
            patterns, rest = patterns[:-1], nodes[len(patterns) - 1 :]
            found[hole], nodes = rest, nodes[: len(patterns)]  # type: ignore[assignment]
    return len(patterns) == len(nodes) and all(
        _fits(one, node, found, scope) for one, node in zip(patterns, nodes, strict=True)
    )


def _written(template: str, found: Found, scope: Scope, node: ast.AST) -> Iterator[str]:
    """Yield a replacement with each choice for its holes."""
    choices = {hole: _choices(hole, found, scope, node) for hole in HOLE.findall(template)}
    for hole, texts in choices.items():
        if texts == [""]:  # no arguments: without their comma
            template = template.replace(f"{hole}, ", "").replace(f", {hole}", "")
    parts: list[str] = HOLE.split(template)  # with the holes, because HOLE is a group
    for each in product(*choices.values()):
        chosen = dict(zip(choices, each, strict=True))
        yield "".join(chosen.get(part, part) for part in parts)


def _choices(hole: str, found: Found, scope: Scope, node: ast.AST) -> list[str]:
    if hole in OFFERS:
        return OFFERS[hole](scope, node)
    what = found[hole.strip("*")]
    if isinstance(what, str):
        return [what]
    if isinstance(what, ast.AST):
        return [_whole_text(scope, what)]
    if hole.startswith("*"):
        return [", ".join(_whole_text(scope, part) for part in what)]
    return [_whole_text(scope, part) for part in what if not isinstance(part, (ast.Constant, ast.Starred))][
        :3
    ]


def _whole_text(scope: Scope, node: ast.AST) -> str:
    """Return the text of a node, in parentheses where it may otherwise bind to its new neighbours."""
    text = scope.text.of(node)
    return text if isinstance(node, (*ATOMS, ast.Slice, ast.Starred, ast.keyword)) else f"({text})"

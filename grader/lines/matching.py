"""Rewrite rules: find the expressions and statements that a pattern fits, and write what takes their place.

A pattern and its replacements are Python code with holes. In a pattern, `A`, `B`, `C`, `D` and `F` stand for any
expression, `X` for any but a constant, `N` for a constant, `V` for a local name and `G` for another name, `O` for any
but `G`, and `a` for any attribute. `*A` stands for all other arguments of a call, and `**K` for its keywords. In a
replacement, `*A` and `**K` are these arguments again, and `A` is each of them in turn. `NAME`, `TENSOR` and the other
keys of `OFFERS` are each name that may stand there.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from itertools import product

from grader.lines.edit import Edit
from grader.lines.scope import Scope

Found = dict[str, str | ast.expr | list[ast.expr] | list[ast.keyword]]  # hole → what it stands for
ATTRIBUTE = "a"
HOLES: dict[str, Callable[[Scope, ast.AST], bool]] = {
    **dict.fromkeys("ABCDF", lambda scope, node: True),
    "X": lambda scope, node: not isinstance(getattr(node, "operand", node), ast.Constant),
    "V": lambda scope, node: isinstance(node, ast.Name) and node.id in scope.names,
    "N": lambda scope, node: isinstance(node, ast.Constant),
    "G": lambda scope, node: isinstance(node, ast.Name) and node.id not in scope.names,
    "O": lambda scope, node: not isinstance(node, ast.Name) or node.id in scope.names,
}
OFFERS: dict[str, Callable[[Scope, ast.AST], list[str]]] = {
    "NAME": Scope.near,
    "TENSOR": Scope.tensors,
    "ALIKE": Scope.alike,
    "SIZE": Scope.lengths,
    "ATTRIBUTE": lambda scope, _node: scope.owner.attributes,
    "LAYER": lambda scope, _node: scope.owner.layers,
    "LACKING": Scope.lacking,
    "UNUSED": lambda scope, _node: scope.owner.unused[:3],
}
HOLE = re.compile(rf"(\*{{0,2}}\b(?:{'|'.join(OFFERS)}|[A-DFGKNOVX]|(?<=\.)a)\b)")
ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant, ast.List)


def whole_text(scope: Scope, node: ast.AST) -> str:
    """Return the text of a node, in parentheses where it may otherwise bind to its new neighbours."""
    text = scope.text.of(node)
    bare = isinstance(node, (*ATOMS, ast.Tuple, ast.Slice, ast.Starred, ast.keyword))
    return text if bare else f"({text})"


class Rule:
    """One kind of edit: code that fits the pattern becomes each of the replacements.

    when: the role that the code must play, a key of `Scope.roles`. inserts: see `Edit`.
    """

    def __init__(self, kind: str, pattern: str, *new: str, when: str = "", inserts: bool = False):
        self.kind, self.when, self.inserts = kind, when, inserts
        self._tree = _parsed(pattern)
        self._templates = [f"({one})" if _binds_loosely(one) else one for one in new]

    def edits(self, scope: Scope) -> Iterator[Edit]:
        for node, statement in self._places(scope):
            found: Found = {}
            if self.when and id(node) not in scope.roles[self.when]:
                continue
            if not _fits(self._tree, node, found, scope):
                continue
            old, span = scope.text.of(node), scope.text.span(node)
            for template in self._templates:
                for new in _written(template, found, scope, node):
                    if new != old:
                        yield Edit(self.kind, ((*span, new),), span, statement.lineno, self.inserts)

    def _places(self, scope: Scope) -> list[tuple[ast.AST, ast.stmt]]:
        is_hole = isinstance(self._tree, ast.Name) and self._tree.id in HOLES
        return list(scope.expressions) if is_hole else scope.by_type.get(type(self._tree), [])


def _parsed(pattern: str) -> ast.AST:
    try:
        expression = ast.parse(f"_[{pattern}]", mode="eval").body  # so that `A:B` is an expression, too
    except SyntaxError:
        return ast.parse(pattern).body[0]
    assert isinstance(expression, ast.Subscript)
    return expression.slice


def _binds_loosely(code: str) -> bool:
    """Whether code is an expression that needs parentheses beside an operator."""
    try:
        return not isinstance(ast.parse(code, mode="eval").body, (*ATOMS, ast.Tuple))
    except SyntaxError:
        return False


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
        return [whole_text(scope, what)]
    texts = [
        whole_text(scope, part)
        for part in what
        if hole[0] == "*" or not isinstance(part, (ast.Constant, ast.Starred))
    ]
    return [", ".join(texts)] if hole[0] == "*" else texts[:3]

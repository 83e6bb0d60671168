"""Rewrite rules: find the expressions that a pattern fits, and write what takes their place.

A pattern and its replacements are Python code with holes. In a pattern, a key of `HOLES` stands for an expression of its
kind, `a` for any attribute, and `*A` and `**K` for all arguments and keywords of a call. In a replacement, `A` is then each
of the arguments in turn. The keys of `OFFERS` are each text that may stand there.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from itertools import product

from grader.lines.places import Edit
from grader.lines.scope import Scope

Found = dict[str, list[ast.expr]]  # hole → what it stands for
ATTRIBUTE = "a"
ROLES = ("ARGUMENT", "CONSTANT", "SITE", "VALUE")  # see `Scope.roles`
HOLES: dict[str, Callable[[Scope, ast.expr], bool]] = {
    **dict.fromkeys("ABCDE", lambda scope, node: True),
    "V": lambda scope, node: isinstance(node, ast.Name) and node.id in scope.names,
    "O": lambda scope, node: not isinstance(node, ast.Name) or node.id in scope.names,
    **{role: lambda scope, node, role=role: id(node) in scope.roles[role] for role in ROLES},  # type: ignore[misc]
}
MAX_OFFERED = 24  # names, or attributes of `self`, that an edit may put in one place
OFFERS: dict[str, Callable[[Scope], list[str]]] = {
    "NAME": lambda scope: list(scope.names)[-MAX_OFFERED:],
    "UNUSED": lambda scope: scope.unused[:3],
    "ATTRIBUTE": lambda scope: list(scope.attributes[:MAX_OFFERED]),
}
HOLE = re.compile(rf"\b({'|'.join((*OFFERS, *HOLES))})\b")
ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant, ast.List, ast.Tuple, ast.Slice)


class Rule:
    """One kind of edit: code that fits the pattern becomes each of the replacements. inserts: see `Edit`."""

    def __init__(self, kind: str, pattern: str, *new: str, inserts: bool = False):
        self.kind, self.inserts = kind, inserts
        self._tree = _parsed(pattern)
        self._type = ast.expr if getattr(self._tree, "id", "") in HOLES else type(self._tree)
        self._templates = [one if isinstance(_parsed(one), ATOMS) else f"({one})" for one in new]

    def edits(self, scope: Scope) -> Iterator[Edit]:
        for node, statement in scope.expressions:
            found: Found = {}
            if isinstance(node, self._type) and _fits(self._tree, node, found, scope):
                for template in self._templates:
                    for new in _written(template, found, scope):
                        if new != scope.text.of(node):
                            yield scope.edit(self.kind, statement, (node, new), inserts=self.inserts)


def _parsed(code: str) -> ast.expr:
    return ast.parse(code, mode="eval").body


def _fits(pattern: object, node: object, found: Found, scope: Scope) -> bool:
    """Whether a pattern fits a node; then `found` has what its holes stand for."""
    match pattern, node:
        case ast.Name(id=hole), ast.expr() if hole in HOLES:
            found[hole] = [node]
            return HOLES[hole](scope, node)
        case [ast.Starred(value=ast.Name(id=hole))], list():
            found[hole] = node
            return True
        case [ast.keyword(arg=None)], list():
            return True
        case list(), list():
            pairs = zip(pattern, node, strict=False)
            return len(pattern) == len(node) and all(_fits(*pair, found, scope) for pair in pairs)
        case ast.AST(), ast.AST():
            fields = (name for name in pattern._fields if name not in ("ctx", "kind"))
            return type(pattern) is type(node) and all(
                _fits(getattr(pattern, name), getattr(node, name), found, scope) for name in fields
            )
    return pattern in (ATTRIBUTE, node) and type(pattern) is type(node)


def _written(template: str, found: Found, scope: Scope) -> Iterator[str]:
    """Yield a replacement with each choice for its holes."""
    choices = {hole: _choices(hole, found, scope) for hole in HOLE.findall(template)}
    parts: list[str] = HOLE.split(template)  # with the holes, because HOLE is a group
    for each in product(*choices.values()):
        chosen = dict(zip(choices, each, strict=True))
        yield "".join(chosen.get(part, part) for part in parts)


def _choices(hole: str, found: Found, scope: Scope) -> list[str]:
    """Return what may stand in a hole, in parentheses where it may otherwise bind to its new neighbours."""
    if hole in OFFERS:
        return OFFERS[hole](scope)
    texts = [(part, scope.text.of(part)) for part in found[hole] if not isinstance(part, ast.Starred)]
    return [text if isinstance(part, ATOMS) else f"({text})" for part, text in texts][:3]

"""Compare code by its syntax tree. Freely chosen names, docstrings, annotations and comments do not count."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

# These names, `self`, keywords of calls, and attributes of anything but `self` are compared as they are. All other
# variables, parameters and attributes of `self` are replaced by numbers, in the order in which they occur.
_KNOWN = frozenset(dir(builtins)) | {"torch", "nn", "F", "math", "np"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Body:
    """A list of statements, and the dotted name of its function or class, as "MultiHeadAttention.forward"."""

    owner: str
    statements: tuple[ast.stmt, ...]


def bodies(tree: ast.AST, owner: str = "") -> Iterator[Body]:
    """Yield every list of statements in a tree: of modules, classes, functions, branches and loops."""
    for _field, value in ast.iter_fields(tree):
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
            yield Body(owner, _without_docstring(value))
    for child in ast.iter_child_nodes(tree):
        name = child.name if isinstance(child, (*_FUNCTIONS, ast.ClassDef)) else ""
        yield from bodies(child, f"{owner}.{name}".strip(".") if name else owner)


def functions(tree: ast.AST, owner: str = "") -> Iterator[Body]:
    """Yield the bodies of functions and methods."""
    for child in ast.iter_child_nodes(tree):
        inside = (
            f"{owner}.{child.name}".strip(".") if isinstance(child, (*_FUNCTIONS, ast.ClassDef)) else owner
        )
        if isinstance(child, _FUNCTIONS):
            yield Body(inside, _without_docstring(child.body))
        yield from functions(child, inside)


def _without_docstring(statements: Sequence[ast.stmt]) -> tuple[ast.stmt, ...]:
    first = statements[0]
    has_docstring = (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    )
    return tuple(statements[1:] if has_docstring else statements)


def kinds(statements: Sequence[ast.stmt]) -> tuple[str, ...]:
    """Return the types of statements: a quick comparison before `shape`."""
    return tuple("Assign" if isinstance(s, ast.AnnAssign) else type(s).__name__ for s in statements)


def size(statements: Sequence[ast.stmt]) -> int:
    """Return the number of nodes of the syntax trees, without contexts and binary operators."""
    nodes = (node for statement in statements for node in ast.walk(statement))
    return sum(not isinstance(node, (ast.expr_context, ast.operator)) for node in nodes)


def shape(statements: Sequence[ast.stmt]) -> str:
    """Return a text that is equal for code that differs only in freely chosen names, docstrings and annotations."""
    return _Shape().of_all(statements)


class _Shape:
    """One walk over some statements, with the numbers of the names seen so far."""

    def __init__(self) -> None:
        self._numbers: dict[str, str] = {}

    def of_all(self, nodes: Sequence[object]) -> str:
        return "[" + ",".join(map(self._of, nodes)) + "]"

    def _of(self, value: object) -> str:
        if isinstance(value, list):
            return self.of_all(value)
        if isinstance(value, (*_FUNCTIONS, ast.ClassDef)):
            rest = [getattr(value, f) for f in ("args", "bases", "decorator_list") if hasattr(value, f)]
            return (
                f"{type(value).__name__}({self.of_all(rest)},{self.of_all(_without_docstring(value.body))})"
            )
        if isinstance(value, ast.AnnAssign) and value.value is not None:
            return f"Assign([{self._of(value.target)}],{self._of(value.value)})"
        if isinstance(value, ast.Assign):
            return f"Assign({self.of_all(value.targets)},{self._of(value.value)})"
        if isinstance(value, ast.Name):
            return self._name(value.id)
        if isinstance(value, ast.arg):
            return self._name(value.arg)
        if (
            isinstance(value, ast.Attribute)
            and isinstance(value.value, ast.Name)
            and value.value.id == "self"
        ):
            return f"self.{self._name('.' + value.attr)}"
        if isinstance(value, ast.AST):
            ignored = ("ctx", "type_comment", "kind")
            parts = [self._of(part) for name, part in ast.iter_fields(value) if name not in ignored]
            return f"{type(value).__name__}({','.join(parts)})"
        return repr(value)

    def _name(self, name: str) -> str:
        if name in _KNOWN or name == "self":
            return name
        return self._numbers.setdefault(name, f"n{len(self._numbers)}")


def lines_of(text: str) -> list[str]:
    """Return the lines of code or prose in a form that can be compared.

    They are without white space, comments at their ends, and marks at their starts such as `#`, `>>>` and `*`. Empty
    lines are left out.
    """
    out = []
    for line in text.splitlines():
        bare = re.sub(r"^[\s#>*|`.]+", "", line)
        bare = re.sub(r"\s+#.*$", "", bare)
        bare = re.sub(r"\s+", "", bare).strip("`")
        if bare:
            out.append(bare)
    return out

"""Find a definition in Python source text."""

from __future__ import annotations

import ast
import io


def definition_span(source: str, name: str) -> tuple[int, int]:
    """Return where the last top-level definition of `name` begins and ends, as offsets in characters.

    Its decorators are included. Raises ValueError if there is no definition.
    """
    nodes = [
        node
        for node in ast.parse(source).body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name
    ]
    if not nodes:
        raise ValueError(f"{name} is not defined at the top level")
    node = nodes[-1]
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    # This ends lines where Python does; `splitlines` also ends them at a form feed.
    lines = list(io.StringIO(source, newline=""))
    assert node.end_lineno is not None
    return sum(map(len, lines[: first - 1])), sum(map(len, lines[: node.end_lineno]))


def owner_of(tree: ast.AST, line: int) -> str:
    """Return the dotted name of the innermost function or class around a line; "" if there is none.

    For example "MultiHeadAttention.forward". A definition inside another statement, such as `if`, is not found.
    """
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.lineno <= line <= (node.end_lineno or 0):
            return f"{node.name}.{owner_of(node, line)}".rstrip(".")
    return ""

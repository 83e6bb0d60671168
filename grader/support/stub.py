"""Make the student's stub from a reference: cut what stands between the solution markers."""

from __future__ import annotations

import ast
import re

from grader.support.errors import GraderError

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"


class MarkerError(GraderError, ValueError):
    """A solution region is not properly opened and closed."""


def stub(source: str) -> str:
    """The same text without its solutions.

    A region inside a function becomes a friendly `raise NotImplementedError`; one at the top level
    becomes a comment. Raises MarkerError for a region that is not closed or never opened.
    """
    out: list[str] = []
    inside = False
    for number, line in enumerate(source.splitlines(), 1):
        if line.strip() == BEGIN:
            if inside:
                raise MarkerError(f"line {number}: a solution begins inside another")
            inside = True
            indent = line[: len(line) - len(line.lstrip())]
            out.append(indent + _placeholder(source, number, bool(indent)))
        elif line.strip() == END:
            if not inside:
                raise MarkerError(f"line {number}: a solution ends that never began")
            inside = False
        elif not inside:
            out.append(line)
    if inside:
        raise MarkerError("the last solution does not end")
    return "\n".join(out) + "\n"


def _placeholder(source: str, line: int, nested: bool) -> str:
    if not nested:
        return "# Your version goes here."
    return f'raise NotImplementedError("{_owner(source, line)} is not written yet")'


def _owner(source: str, line: int) -> str:
    """The function that a line belongs to: `masked_softmax`, or `MultiHeadAttention.forward`."""
    names: list[str] = []
    nodes: list[ast.AST] = list(ast.parse(source).body)
    while nodes:
        node = nodes.pop(0)
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.lineno <= line <= (
            node.end_lineno or 0
        ):
            names.append(node.name)
            nodes = list(node.body)
    return re.sub(r"\.__init__$", "", ".".join(names)) or "this"

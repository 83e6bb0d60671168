"""Source code: lines as Python counts them, the stub of a solution, and whether code is this program's own."""

from __future__ import annotations

import ast
import hashlib
import io
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path

from grader.support.errors import UsageError


def definition_span(source: str, name: str) -> tuple[int, int]:
    """Return where the last top-level definition of `name` begins and ends, as offsets in characters.

    Its decorators are included. Raises ValueError if there is no definition.
    """
    found = definition_spans(source, ast.parse(source), name)
    if not found:
        raise ValueError(f"{name} is not defined at the top level")
    return found[-1]


def definition_spans(source: str, tree: ast.Module, name: str) -> list[tuple[int, int]]:
    """Return where each top-level definition of `name` begins and ends. tree: the syntax tree of the source."""
    # This ends lines where Python does; `splitlines` also ends them at a form feed.
    lines = list(io.StringIO(source, newline=""))
    found = []
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            found.append((sum(map(len, lines[: first - 1])), sum(map(len, lines[: node.end_lineno]))))
    return found


@lru_cache(maxsize=32)  # for each known mistake, authors' commands need those of the reference
def definitions(source: str) -> str:
    """Return a module's imports, definitions and assignments, without the demos, which would only take time."""
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign)
    lines = list(io.StringIO(source, newline=""))
    kept = [_statement(lines, node) for node in ast.parse(source).body if isinstance(node, kinds)]
    return "\n\n".join(kept) + "\n"


def _statement(lines: Sequence[str], node: ast.stmt) -> str:
    """Return the text of a top-level statement with its decorators. It may share its lines with others."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    first, start = (decorators[0].lineno, 0) if decorators else (node.lineno, node.col_offset)
    assert node.end_lineno is not None
    text = [line.encode() for line in lines[first - 1 : node.end_lineno]]
    text[-1] = text[-1][: node.end_col_offset]
    text[0] = text[0][start:]  # last, because both may be one line
    return b"".join(text).decode()


def owner_of(tree: ast.AST, line: int) -> str:
    """Return the dotted name of the innermost function or class around a line; "" if there is none.

    For example "MultiHeadAttention.forward". A definition inside another statement, such as `if`, is not found.
    """
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.lineno <= line <= (node.end_lineno or 0):
            return f"{node.name}.{owner_of(node, line)}".rstrip(".")
    return ""


BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"


def stub(source: str) -> str:
    """Return the text without its solutions.

    An indented region becomes a `raise NotImplementedError` with a sentence; a region at the top level becomes a
    comment. Raises UsageError for a region that is not closed, never opened, or inside another.
    """
    out: list[str] = []
    inside = False
    for number, line in enumerate(source.splitlines(), 1):
        if line.strip() == BEGIN:
            if inside:
                raise UsageError(f"line {number}: a solution begins inside another")
            inside = True
            indent = line[: len(line) - len(line.lstrip())]
            out.append(indent + _placeholder(source, number, bool(indent)))
        elif line.strip() == END:
            if not inside:
                raise UsageError(f"line {number}: END SOLUTION without BEGIN SOLUTION")
            inside = False
        elif not inside:
            out.append(line)
    if inside:
        raise UsageError("the last solution does not end")
    return "\n".join(out) + "\n"


def _placeholder(source: str, line: int, nested: bool) -> str:
    if not nested:
        return "# Your version goes here."
    owner = owner_of(ast.parse(source), line).removesuffix(".__init__") or "this"
    return f'raise NotImplementedError("{owner} is not written yet")'


@cache
def code_digest() -> str:
    """Return a hash of the grader's Python files, without `course/`: a wheel has the exercises there."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        place = path.relative_to(root)
        if place.parts[0] != "course":
            digest.update(f"{place.as_posix()}\0".encode() + path.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()

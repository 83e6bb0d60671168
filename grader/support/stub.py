"""Make the student's stub from a reference: replace the code between the solution markers."""

from __future__ import annotations

import ast

from grader.support.errors import GraderError
from grader.support.source import owner_of

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"


class MarkerError(GraderError, ValueError):
    """A solution region is not properly opened and closed."""


def stub(source: str) -> str:
    """Return the text without its solutions.

    An indented region becomes a `raise NotImplementedError` with a sentence; a region at the top level becomes a
    comment. Raises MarkerError for a region that is not closed, never opened, or inside another.
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
                raise MarkerError(f"line {number}: END SOLUTION without BEGIN SOLUTION")
            inside = False
        elif not inside:
            out.append(line)
    if inside:
        raise MarkerError("the last solution does not end")
    return "\n".join(out) + "\n"


def _placeholder(source: str, line: int, nested: bool) -> str:
    if not nested:
        return "# Your version goes here."
    owner = owner_of(ast.parse(source), line).removesuffix(".__init__") or "this"
    return f'raise NotImplementedError("{owner} is not written yet")'

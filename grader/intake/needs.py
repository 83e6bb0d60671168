"""Which names of a file a definition needs, read from the syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from grader.intake.names import Names
from grader.intake.read import Submission
from grader.intake.syntax import CannotParse, parse


def needs(submission: Submission, names: Names, name: str) -> frozenset[str]:
    """The names that a definition uses, and those that the file's own definitions among them use."""
    sources = {unit.name: unit.source for unit in submission.units}
    found = {name}
    waiting = [name]
    while waiting:
        known = names.definitions.get(waiting.pop())
        if known is None or known.unit not in sources:
            continue
        new = set(_used(sources[known.unit], known.line)) - found
        found |= new
        waiting += new
    return frozenset(found)


def _used(source: str, line: int) -> Iterator[str]:
    """The names in the statements that begin on a line."""
    try:
        tree = parse(source)
    except CannotParse:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and node.lineno == line:
            yield from (part.id for part in ast.walk(node) if isinstance(part, ast.Name))

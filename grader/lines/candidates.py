"""Every edit of the statements that an exercise may be wrong in."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

from grader.engine.observed_edits import EditedStatement
from grader.intake.names import Names
from grader.intake.needs import needs
from grader.intake.read import Submission
from grader.lines.expressions import EXPRESSIONS
from grader.lines.insertions import INSERTIONS
from grader.lines.operators import OPERATORS
from grader.lines.scope import scopes
from grader.lines.source_edit import Edit, Text
from grader.lines.statements import STATEMENTS

MAX_BYTES = 40_000  # of a statement: longer ones are not searched


@dataclass(frozen=True)
class Place:
    """A top-level statement of a unit, with its text and its bytes."""

    unit: str
    text: Text
    node: ast.stmt
    start: int
    stop: int
    future: bool

    @cached_property
    def statements(self) -> list[int]:
        """The first lines of all its statements, in order."""
        found = {part.lineno for part in ast.walk(self.node) if isinstance(part, ast.stmt)}
        decorators = {d.lineno for part in ast.walk(self.node) for d in getattr(part, "decorator_list", ())}
        return sorted(found | decorators)

    @property
    def keys(self) -> list[tuple[str, int]]:
        """Its statements, each with its unit."""
        return [(self.unit, line) for line in self.statements]

    def edited(self, edit: Edit) -> EditedStatement:
        """The statement with an edit, as a worker takes it."""
        source = self.text.changed(edit.pieces, self.start, self.stop)
        return EditedStatement(
            self.unit, ("from __future__ import annotations\n" if self.future else "") + source
        )

    def edits(self) -> Iterator[Edit]:
        """Every edit that an operator offers."""
        for scope in scopes(self.text, self.node):
            for operator in (*OPERATORS, *EXPRESSIONS, *INSERTIONS, *STATEMENTS):
                yield from operator(scope)


def places(submission: Submission, names: Names, name: str, without: Collection[str]) -> list[Place]:
    """The statements that define a name and what it needs, without definitions of other exercises."""
    needed = needs(submission, names, name)
    wanted = {
        (known.unit, known.line)
        for own, known in names.definitions.items()
        if own in needed and (own == name or own not in without)
    }
    found = []
    for unit in submission.units:
        if any(own == unit.name for own, _line in wanted):
            text = Text(unit.source)
            tree = ast.parse(unit.source)
            future = any(isinstance(n, ast.ImportFrom) and n.module == "__future__" for n in tree.body)
            for node in tree.body:
                lines = {line for own, line in wanted if own == unit.name}
                if any(node.lineno <= line <= (node.end_lineno or node.lineno) for line in lines):
                    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
                    start, stop = text.line_start(first), text.span(node)[1]
                    if stop - start <= MAX_BYTES:
                        found.append(Place(unit.name, text, node, start, stop, future))
    return found

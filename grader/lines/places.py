"""The statements in which an answer to an exercise may be wrong, and every edit of them."""

from __future__ import annotations

import ast
import time
from bisect import bisect_right
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from math import inf

from grader.engine.session import EditedStatement
from grader.intake.names import Names
from grader.intake.read import Submission
from grader.intake.uses import needs
from grader.lines import statements, structural
from grader.lines.edit import Edit, Text
from grader.lines.rules import RULES
from grader.lines.scope import DEFINES, scopes

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
MAX_BYTES = 40_000  # of a statement: longer ones are not searched
# The most edits of a statement, of one rule in one function, and characters that the edits of a statement put in.
# Answers of tests/answers have up to 5,800 edits with 130,000 characters, 1,300 of them of one kind.
MAX_EDITS, MAX_OF_RULE, MAX_TEXT = 12_000, 3000, 1_000_000
MAKERS = (*(rule.edits for rule in RULES), *structural.MAKERS, *statements.MAKERS)


@dataclass(frozen=True)
class Place:
    """A top-level statement of a unit. text: the whole unit.

    start, stop: where the statement and its decorators are, in bytes of the unit. future: whether the unit imports from
    `__future__`.
    """

    unit: str
    text: Text
    node: ast.stmt
    start: int
    stop: int
    future: bool

    @cached_property
    def statements(self) -> list[int]:
        """Return the first lines of all its statements and decorators, in order."""
        found = {part.lineno for part in ast.walk(self.node) if isinstance(part, ast.stmt)}
        decorators = {d.lineno for part in ast.walk(self.node) for d in getattr(part, "decorator_list", ())}
        return sorted(found | decorators)

    @cached_property
    def definitions(self) -> set[int]:
        """Return the first lines of the statements that define a function or a class."""
        return {part.lineno for part in ast.walk(self.node) if isinstance(part, DEFINES)}

    def without(self, ran: Collection[tuple[str, int]]) -> set[int]:
        """Return the first lines of the statements inside functions that did not run, except definitions.

        ran: (unit, line) pairs. A statement with a block ran if a line of its head did.
        """
        lines = {line for unit, line in ran if unit == self.unit}
        functions = [part for part in ast.walk(self.node) if isinstance(part, FUNCTIONS)]
        inner = {part for one in functions for part in ast.walk(one) if isinstance(part, ast.stmt)}
        plain = [part for part in inner if not isinstance(part, DEFINES)]
        return {one.lineno for one in plain if lines.isdisjoint(range(one.lineno, _own_stop(one)))}

    @cached_property
    def _functions(self) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        """Return the functions whose code a worker can replace: itself or its methods, without decorators.

        Without private methods, too: Python stores `__split` of a class under another name.
        """
        body = self.node.body if isinstance(self.node, ast.ClassDef) else [self.node]
        plain = [one for one in body if isinstance(one, FUNCTIONS) and not one.decorator_list]
        private = [one for one in plain if one.name.startswith("__") and not one.name.endswith("__")]
        return (
            [] if getattr(self.node, "decorator_list", ()) else [one for one in plain if one not in private]
        )

    def touched(self, edit: Edit) -> set[int]:
        """Return the indices in `statements` of the statements that an edit changes."""
        lines = {edit.statement, *(self.text.line(start) for start, _stop, _new in edit.pieces)}
        return {bisect_right(self.statements, line) - 1 for line in lines}

    def edited(self, edit: Edit) -> EditedStatement:
        """Return the edited statement as a worker takes it: only the edited function if nothing else changes.

        It is on its lines, below its unit's `__future__` import.
        """
        name, head, start, stop = "", "", self.start, self.stop
        for function in self._functions:
            body, end = self.text.span(function.body[0])[0], self.text.span(function)[1]
            if all(body <= first and last <= end for first, last, _new in edit.pieces):
                name, start, stop = function.name, self.text.line_start(function.lineno), end
                if isinstance(self.node, ast.ClassDef):
                    name, head = f"{self.node.name}.{name}", f"class {self.node.name}:\n"
        above = self.text.line(start) - 1 - bool(head)
        future = "from __future__ import annotations" if self.future and above else ""
        source = self.text.changed(edit.pieces, start, stop)
        return EditedStatement(self.unit, future + "\n" * above + head + source, name)

    def edits(self, until: float = inf) -> Iterator[Edit]:
        """Yield the edits of all kinds, up to the limits above. until: when to stop, see `time.monotonic`."""
        edits, text = MAX_EDITS, MAX_TEXT
        for edit in self._edits():
            edits -= 1
            text -= sum(len(new) for _start, _stop, new in edit.pieces)
            if min(edits, text) < 0 or time.monotonic() >= until:
                return
            yield edit

    def _edits(self) -> Iterator[Edit]:
        for scope in scopes(self.text, self.node):
            repeated = []
            for make in MAKERS:
                for edit in islice(make(scope), MAX_OF_RULE):
                    yield edit
                    if edit.kind in structural.EVERYWHERE and not edit.inserts:
                        repeated.append(edit)
            yield from structural.everywhere(scope, repeated)


def _own_stop(statement: ast.stmt) -> int:
    """Return the line after a statement; for a statement with a block, the line after its head."""
    body = getattr(statement, "body", None)
    if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
        return max(body[0].lineno, statement.lineno + 1)
    return (statement.end_lineno or statement.lineno) + 1


def places(submission: Submission, names: Names, name: str, without: Collection[str]) -> list[Place]:
    """Return the statements that define a name and what it needs.

    without: the names of other exercises, whose definitions are left out.
    """
    needed = needs(names, name)
    wanted = {
        (known.unit, known.line)
        for own, known in names.definitions.items()
        if own in needed and (own == name or own not in without)
    }
    found = []
    for unit in submission.units:
        lines = {line for file, line in wanted if file == unit.name}
        if lines:
            text = Text(unit.source)
            tree = ast.parse(unit.source)
            future = any(isinstance(n, ast.ImportFrom) and n.module == "__future__" for n in tree.body)
            for node in tree.body:
                if any(node.lineno <= line <= (node.end_lineno or node.lineno) for line in lines):
                    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
                    start, stop = text.line_start(first), text.span(node)[1]
                    if stop - start <= MAX_BYTES:
                        found.append(Place(unit.name, text, node, start, stop, future))
    return found

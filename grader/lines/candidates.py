"""Make every edit of the statements in which an answer to an exercise may be wrong."""

from __future__ import annotations

import ast
import time
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from math import inf

from grader.engine.session import EditedStatement
from grader.intake.names import Names
from grader.intake.needs import needs
from grader.intake.read import Submission
from grader.lines.expressions import EXPRESSIONS
from grader.lines.insertions import INSERTIONS
from grader.lines.operators import OPERATORS
from grader.lines.scope import scopes
from grader.lines.source_edit import Edit, Piece, Text
from grader.lines.statements import STATEMENTS

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINES = (*FUNCTIONS, ast.ClassDef)
MAX_BYTES = 40_000  # of a statement: longer ones are not searched
# The most edits of a statement, of one operator in one function, and characters that the edits of a statement put in.
# Answers of tests/answers have up to 5,800 edits with 130,000 characters, 1,300 of them of one operator.
MAX_EDITS, MAX_OF_OPERATOR, MAX_TEXT = 12_000, 3000, 1_000_000


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
    def in_functions(self) -> dict[int, range]:
        """Return first line → own lines of a statement, for the statements inside functions, except definitions.

        The own lines of a statement with a block are those of its head: see `_own_stop`.
        """
        functions = [part for part in ast.walk(self.node) if isinstance(part, FUNCTIONS)]
        inner = [part for one in functions for part in ast.walk(one) if isinstance(part, ast.stmt)]
        plain = [part for part in inner if not isinstance(part, DEFINES)]
        return {part.lineno: range(part.lineno, _own_stop(part)) for part in plain}

    @cached_property
    def definitions(self) -> set[int]:
        """Return the first lines of the statements that define a function or a class."""
        return {part.lineno for part in ast.walk(self.node) if isinstance(part, DEFINES)}

    def without(self, ran: Collection[tuple[str, int]]) -> set[int]:
        """Return the first lines of the statements `in_functions` that did not run. ran: (unit, line) pairs."""
        lines = {line for unit, line in ran if unit == self.unit}
        return {first for first, own in self.in_functions.items() if not lines & set(own)}

    @cached_property
    def functions(self) -> list[OneFunction]:
        """Return the functions whose code a worker can replace: a top-level function, or methods of a top-level class
        without decorators.

        These have no decorators themselves, only one definition, and no name that Python mangles.
        """
        owner, body = "", [self.node]
        if isinstance(self.node, ast.ClassDef):
            owner, body = self.node.name, [] if self.node.decorator_list else self.node.body
        defined = [part for part in body if isinstance(part, FUNCTIONS)]
        names = [one.name for one in defined]
        return [
            one_function(self.text, one, owner)
            for one in defined
            if not one.decorator_list
            and names.count(one.name) == 1
            # Python stores `__split` of a class under another name, as `_Model__split`.
            and not (owner and one.name.startswith("__") and not one.name.endswith("__"))
        ]

    def touched(self, edit: Edit) -> set[int]:
        """Return the indices in `statements` of the statements that an edit changes."""
        lines = {edit.statement, *(self.text.line(start) for start, _stop, _new in edit.pieces)}
        return {bisect_right(self.statements, line) - 1 for line in lines}

    def edited(self, edit: Edit) -> EditedStatement:
        """Return the edited statement as a worker takes it: only the edited function if nothing else changes."""
        for function in self.functions:
            if function.holds(edit.pieces):
                source = self.text.changed(edit.pieces, function.start, function.stop)
                # A worker replaces only code with the same free variables, and `super()` adds one.
                if ("super(" in source) == function.calls_super:
                    head = f"class {function.owner}:\n" if function.owner else ""
                    above = self.text.line(function.start) - 1 - len(head.splitlines())
                    return EditedStatement(self.unit, self._above(above) + head + source, function.path)
        source = self.text.changed(edit.pieces, self.start, self.stop)
        return EditedStatement(self.unit, self._above(self.text.line(self.start) - 1) + source)

    def _above(self, lines: int) -> str:
        """Return what to put above an edited text to keep its line numbers and its unit's `__future__` import."""
        future = "from __future__ import annotations" if self.future and lines else ""
        return future + "\n" * lines

    def edits(self, until: float = inf) -> Iterator[Edit]:
        """Yield the edits that the operators offer, up to the limits above. until: when to stop, see `time.monotonic`."""
        edits, text = MAX_EDITS, MAX_TEXT
        for scope in scopes(self.text, self.node):
            for operator in (*OPERATORS, *EXPRESSIONS, *INSERTIONS, *STATEMENTS):
                for edit in islice(operator(scope), MAX_OF_OPERATOR):
                    edits -= 1
                    text -= sum(len(new) for _start, _stop, new in edit.pieces)
                    if min(edits, text) < 0 or time.monotonic() >= until:
                        return
                    yield edit


@dataclass(frozen=True)
class OneFunction:
    """A function of a top-level statement. owner: the class that it is in; "" without one.

    path: its name, after that of the class, as in `Attention.forward`.
    start, body, stop: where its first line begins, where its body begins, and where it ends, in bytes of the unit.
    calls_super: its text contains "super(".
    """

    owner: str
    path: str
    start: int
    body: int
    stop: int
    calls_super: bool

    def holds(self, pieces: Iterable[Piece]) -> bool:
        """Whether all pieces are in its body."""
        return all(self.body <= start and stop <= self.stop for start, stop, _new in pieces)


def one_function(text: Text, node: ast.FunctionDef | ast.AsyncFunctionDef, owner: str) -> OneFunction:
    start = text.line_start(node.lineno)
    body, _end = text.span(node.body[0])
    _start, stop = text.span(node)
    path = f"{owner}.{node.name}" if owner else node.name
    return OneFunction(owner, path, start, body, stop, "super(" in text.changed((), start, stop))


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
    needed = needs(submission, names, name)
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

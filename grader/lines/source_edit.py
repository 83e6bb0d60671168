"""An edit of a student's file: pieces of text that are replaced, and the place that a report may name."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from grader.intake.needs import bound_by

Piece = tuple[int, int, str]  # start and stop in bytes of the unit, and the text that takes their place


# What an edit of a kind changes, as a report says it; see `find.kind_of_change`.
CONSTANT, VALUES, OPERATION, RESULT = "constant", "values", "operation", "result"
CALL, AXES, ORDER = "call", "axes", "order"
# Kind of an edit → how often edits of this kind repair an answer, relative to other kinds, and what they change; "" if
# the kind alone gives the edit away. Measured on the answers of tests/answers that are not held out.
KINDS = {
    "unused layer": (12.0, ""),
    "unknown name": (12.0, VALUES),
    "insert statement": (12.0, ""),
    "names for constants": (10.0, VALUES),
    "drop method": (10.0, ""),
    "name for constant": (8.0, VALUES),
    "axis": (8.0, CONSTANT),
    "drop side": (8.0, OPERATION),
    "attribute": (7.0, VALUES),
    "name": (7.0, VALUES),
    "function": (7.0, CALL),
    "insert assignment": (6.0, RESULT),
    "whole number": (6.0, CONSTANT),
    "decimal number": (6.0, CONSTANT),
    "drop call": (6.0, ""),
    "comparison": (6.0, OPERATION),
    "insert layer": (6.0, ""),
    "truth value": (5.0, CONSTANT),
    "drop statement": (5.0, ""),
    "argument order": (5.0, VALUES),
    "unknown attribute": (5.0, VALUES),
    "insert store": (4.0, RESULT),
    "own layer": (4.0, ""),
    "insert transpose": (4.0, AXES),
    "insert call": (4.0, ""),
    "move call": (4.0, ""),
    "none": (4.0, VALUES),
    "add argument": (4.0, VALUES),
    "operation": (4.0, OPERATION),
    "factor": (4.0, OPERATION),
    "exchange": (4.0, VALUES),
    "exchange layers": (4.0, VALUES),
    "name for argument": (3.0, VALUES),
    "target": (3.0, RESULT),
    "target order": (3.0, RESULT),
    "range": (3.0, VALUES),
    "add arguments": (3.0, VALUES),
    "drop argument": (3.0, VALUES),
    "subscript": (3.0, VALUES),
    "statement order": (2.0, ORDER),
    "return": (2.0, RESULT),
    "term": (2.0, ""),
    "insert function": (2.0, ""),
    **dict.fromkeys(("large number", "size by one"), (1.5, CONSTANT)),
    **dict.fromkeys(("everywhere", "slice", "slice axis"), (1.5, VALUES)),
    **dict.fromkeys(("sides", "choice", "condition", "sign", "drop sign"), (1.5, OPERATION)),
    "assignment": (1.5, RESULT),
    **dict.fromkeys(("context", "copy"), (1.5, "")),
}


@dataclass(frozen=True)
class Edit:
    """One small change of one top-level statement.

    operator: its kind, a key of `KINDS`. inserts: whether it adds something that may imitate a repair elsewhere, see
    `find.first_agreed`.
    statement: the first line of the innermost statement that it changes.
    at: start and stop of the part that a report underlines, in bytes of the unit.
    """

    operator: str
    pieces: tuple[Piece, ...]
    at: tuple[int, int]
    statement: int
    inserts: bool = False


@dataclass(frozen=True)
class Text:
    """The source of a unit. Its methods find nodes of the syntax tree and lines in it; places are in bytes."""

    source: str

    @cached_property
    def raw(self) -> bytes:
        return self.source.encode("utf-8")

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        for line in self.raw.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        return starts

    @cached_property
    def bound(self) -> frozenset[str]:
        """Return every name that the text binds anywhere."""
        return frozenset(name for node in ast.walk(ast.parse(self.source)) for name in bound_by(node))

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return where a node starts and stops, in bytes."""
        return (
            self._starts[node.lineno - 1] + node.col_offset,  # type: ignore[attr-defined]
            self._starts[node.end_lineno - 1] + node.end_col_offset,  # type: ignore[attr-defined]
        )

    def of(self, node: ast.AST) -> str:
        """Return the text of a node."""
        start, stop = self.span(node)
        return self.raw[start:stop].decode("utf-8")

    def between(self, first: ast.AST, second: ast.AST) -> str:
        """Return the text after one node and before another."""
        return self.raw[self.span(first)[1] : self.span(second)[0]].decode("utf-8")

    def line(self, place: int) -> int:
        """Return the line, counted from 1, on which a byte is."""
        return self.raw.count(b"\n", 0, place) + 1

    def line_start(self, line: int) -> int:
        """Return the first byte of a line."""
        return self._starts[line - 1]

    def changed(self, pieces: Iterable[Piece], start: int = 0, stop: int | None = None) -> str:
        """Return the text from start to stop with the pieces replaced. Pieces do not overlap."""
        raw, place, out = self.raw, start, []
        for first, last, new in sorted(pieces):
            out += [raw[place:first], new.encode("utf-8")]
            place = last
        out.append(raw[place : len(raw) if stop is None else stop])
        return b"".join(out).decode("utf-8")

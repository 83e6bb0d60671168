"""An edit of a student's file: pieces of text that are replaced, and the place that a report may name."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from grader.intake.uses import bound_by

Piece = tuple[int, int, str]  # start and stop in bytes of the unit, and the text that takes their place


@dataclass(frozen=True)
class Edit:
    """One small change of one top-level statement.

    kind: a key of `rules.KINDS`. statement: the first line of the innermost statement that it changes.
    at: start and stop of the part that a report underlines, in bytes of the unit.
    inserts: whether it adds something that may imitate a repair elsewhere, see `find.first_agreed`.
    """

    kind: str
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

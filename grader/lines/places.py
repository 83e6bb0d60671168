"""The statements in which an answer to an exercise may be wrong, and edits of them. Spans are in bytes of the unit."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property

from grader.intake.names import Names
from grader.intake.read import Submission
from grader.intake.uses import needs

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINES = (*FUNCTIONS, ast.ClassDef)
MAX_BYTES = 40_000  # of a statement: longer ones are not searched
Span = tuple[int, int]
Piece = tuple[int, int, str]  # start and stop, and the text that takes their place
Statement = tuple[str, int]  # the unit, and the first line of a statement


@dataclass(frozen=True)
class Text:
    """The source of a unit."""

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

    def span(self, node: ast.AST) -> Span:
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


@dataclass(frozen=True)
class Place:
    """A top-level statement of a unit. text: the whole unit. start, stop: the statement with its decorators."""

    unit: str
    text: Text
    node: ast.stmt
    start: int
    stop: int

    @cached_property
    def parts(self) -> list[ast.stmt]:
        """Return the statement and all statements in it."""
        return [part for part in ast.walk(self.node) if isinstance(part, ast.stmt)]

    @cached_property
    def statements(self) -> list[int]:
        """Return the first lines of all its statements, in order."""
        return sorted({part.lineno for part in self.parts})


@dataclass(frozen=True)
class Edit:
    """One small change of one place.

    kind: a key of `rules.KINDS`. line: the first one of the innermost statement that it changes. at: the part that a
    report underlines. inserts: whether it adds something that may imitate a repair elsewhere, see `find.first_agreed`.
    """

    place: Place
    kind: str
    pieces: tuple[Piece, ...]
    at: Span
    line: int
    inserts: bool = False

    @property
    def statement(self) -> Statement:
        return self.place.unit, self.line

    @property
    def touched(self) -> set[int]:
        """Return the indices in `Place.statements` of the statements that it changes."""
        lines = {self.line, *(self.place.text.line(start) for start, _stop, _new in self.pieces)}
        return {bisect_right(self.place.statements, line) - 1 for line in lines}

    @property
    def source(self) -> str:
        """Return the edited source of the whole unit."""
        return self.place.text.changed(self.pieces)

    @property
    def edited(self) -> dict[str, str]:
        """Return the edited statement as a worker takes it: on its lines, and of a class only a method that changes alone.

        Annotations are not evaluated, as with the `__future__` import of many files.
        """
        text, node = self.place.text, self.place.node
        head, start, stop = "", self.place.start, self.place.stop
        if isinstance(node, ast.ClassDef):
            for part in node.body:
                first, last = text.span(part)
                if isinstance(part, FUNCTIONS) and all(
                    first <= a and b <= last for a, b, _new in self.pieces
                ):
                    head, start, stop = f"class {node.name}:\n", text.line_start(part.lineno), last
        above = text.line(start) - 1 - bool(head)
        future = "from __future__ import annotations" if above else ""
        source = future + "\n" * above + head + text.changed(self.pieces, start, stop)
        return {"file": self.place.unit, "source": source}


def places(submission: Submission, names: Names, name: str, without: Collection[str]) -> list[Place]:
    """Return the statements that define a name and what it needs.

    without: the names of other exercises, whose definitions are left out.
    """
    wanted = needs(names, name).difference(without) | {name}
    lines = {(known.unit, known.line) for own, known in names.definitions.items() if own in wanted}
    found = []
    for unit in submission.units:
        mine = [line for file, line in lines if file == unit.name]
        text = Text(unit.source)
        for node in ast.parse(unit.source).body if mine else ():
            if any(node.lineno <= line <= (node.end_lineno or node.lineno) for line in mine):
                first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
                start, stop = text.line_start(first), text.span(node)[1]
                if stop - start <= MAX_BYTES:
                    found.append(Place(unit.name, text, node, start, stop))
    return found

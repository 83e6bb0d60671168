"""From candidates to the lines of a report. Nothing of an edit is shown but its place and, in words, its kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from grader.lines.search import Candidate
from grader.report.model import Line
from grader.support.sanitize import sanitize

MAX_LINES = 3
MAX_TEXT = 200


def point(repairs: Sequence[Candidate], partial: Sequence[Candidate], named: bool) -> tuple[Line, ...]:
    """The lines to look at: a certified one if the repairs agree, else suspected ones.

    Repairs of two statements prove that either would do; then neither is certain to be the mistake.
    """
    statements = dict.fromkeys((r.place.unit, r.edit.statement) for r in repairs)
    sure: Literal["repaired", "suspected"] = "repaired" if len(statements) == 1 else "suspected"
    lines: dict[tuple[str, int], Line] = {}
    for candidate in (*repairs, *partial):
        certainty = sure if candidate in repairs else "suspected"
        line = _line(candidate, certainty, named)
        lines.setdefault((line.file, line.line), line)
    return tuple(lines.values())[:MAX_LINES]


def _line(candidate: Candidate, certainty: Literal["repaired", "suspected"], named: bool) -> Line:
    text, (start, stop) = candidate.place.text, candidate.edit.at
    number = text.line(start)
    first = text.line_start(number)
    raw = text.raw[first:].split(b"\n")[0].decode("utf-8", "replace")
    code = raw.lstrip()
    skipped = len(raw) - len(code)
    begin = len(text.raw[first:start].decode("utf-8", "replace")) - skipped
    end = min(len(text.raw[first:stop].decode("utf-8", "replace")) - skipped, len(code))
    code = code.rstrip()[:MAX_TEXT]
    touched = (max(min(begin, len(code)), 0), max(min(end, len(code)), 0))
    change = "" if named else kind_of_change(candidate.edit.operator)
    return Line(sanitize(candidate.place.unit), number, sanitize(code), certainty, change, touched)


def kind_of_change(operator: str) -> str:
    """The kind of an edit in words that do not give it away."""
    return ""

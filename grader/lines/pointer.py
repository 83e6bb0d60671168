"""Turn candidates into the lines of a report. Of an edit, only its place and its kind in words are shown."""

from __future__ import annotations

from collections.abc import Sequence

from grader.lines.candidates import Place
from grader.lines.search import Candidate
from grader.report.model import Certainty, Line
from grader.support.i18n import _
from grader.support.sanitize import sanitize

MAX_LINES = 3
MAX_TEXT = 200
IMITATES = ("size by one", "copy")  # what they repair was often wrong elsewhere: alone they prove too little


def point(sure: Candidate | None, suspects: Sequence[tuple[Place, int]], named: bool) -> tuple[Line, ...]:
    """The lines to look at: the certified one, then suspected ones, the likeliest first."""
    lines: dict[tuple[str, int], Line] = {}
    if sure is not None:
        change = "" if named else kind_of_change(sure.edit.operator)
        start, stop = sure.edit.at
        line = _line(sure.place, sure.place.text.line(start), change, (start, stop))
        lines = {(line.file, statement): line for statement in (line.line, sure.edit.statement)}
    for place, number in suspects:
        lines.setdefault((sanitize(place.unit), number), _line(place, number))
    return tuple(dict.fromkeys(lines.values()))[:MAX_LINES]


def certain(repairs: Sequence[Candidate]) -> Candidate | None:
    """The first repair, if all repairs are in its statement or beside it.

    Repairs of distant statements prove that either would do; then neither is certain to be the mistake. A
    change that puts something in can imitate one elsewhere, so it counts only where nothing else repairs.
    """
    kept = [one for one in repairs if not one.edit.inserts]
    kept = kept or [one for one in repairs if one.edit.operator not in IMITATES]
    for other in kept[1:]:
        order = kept[0].place.statements
        if other.place is not kept[0].place:
            return None
        if abs(order.index(other.edit.statement) - order.index(kept[0].edit.statement)) > 1:
            return None
    return kept[0] if kept else None


def _line(place: Place, number: int, change: str = "", part: tuple[int, int] | None = None) -> Line:
    """part: what an edit changes, in bytes, of a line that is certified."""
    text = place.text
    first = text.line_start(number)
    raw = text.raw[first:].split(b"\n")[0].decode("utf-8", "replace")
    code = raw.lstrip()
    skipped = len(raw) - len(code)
    code = code.rstrip()[:MAX_TEXT]
    start, stop = part or (first, first)
    columns = [len(text.raw[first:at].decode("utf-8", "replace")) - skipped for at in (start, stop)]
    begin, end = (max(min(column, len(code)), 0) for column in columns)
    certainty: Certainty = "suspected" if part is None else "repaired"
    return Line(sanitize(place.unit), number, sanitize(code), certainty, change, (begin, end))


def kind_of_change(operator: str) -> str:
    """The kind of an edit in words that do not give it away; "" for a kind that would."""
    return {
        "truth value": _("a truth value"),
        "axis": _("which axis"),
        "whole number": _("a number"),
        "large number": _("a number"),
        "decimal number": _("a number"),
        "size by one": _("a size"),
        "none": _("which value is passed"),
        "name": _("which name is used"),
        "everywhere": _("which name is used"),
        "exchange": _("which name is used"),
        "unknown attribute": _("the name of an attribute"),
        "attribute": _("which attribute is used"),
        "sides": _("the order of the two sides"),
        "operation": _("an operation"),
        "drop side": _("an operation"),
        "choice": _("a condition"),
        "condition": _("a condition"),
        "comparison": _("a comparison"),
        "function": _("which function is called"),
        "argument order": _("the order of the values"),
        "drop argument": _("the arguments of a call"),
        "add argument": _("the arguments of a call"),
        "subscript": _("the index"),
        "slice": _("the index"),
        "insert transpose": _("the order of the axes"),
        "sign": _("a sign or a negation"),
        "drop sign": _("a sign or a negation"),
        "factor": _("the scale"),
        "target": _("where the result is stored"),
        "assignment": _("where the result is stored"),
        "return": _("what is returned"),
        "statement order": _("the order of the statements"),
    }.get(operator, "")

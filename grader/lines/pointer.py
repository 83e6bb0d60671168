"""Turn candidates into the lines of a report. A report shows only the place of an edit and its kind in words."""

from __future__ import annotations

from collections.abc import Sequence

from grader.lines.candidates import Place
from grader.lines.search import Candidate
from grader.lines.source_edit import AXES, CALL, CONSTANT, KINDS, OPERATION, ORDER, RESULT, VALUES
from grader.report.model import Certainty, Line
from grader.support.i18n import _
from grader.support.sanitize import sanitize

MAX_LINES = 3
MAX_TEXT = 200
# These often repair a mistake that is elsewhere. They never certify a line.
IMITATES = ("size by one", "copy")


def point(
    certified: Candidate | None, suspects: Sequence[tuple[Place, int]], detail: bool
) -> tuple[Line, ...]:
    """Return the lines to look at: the certified one, then suspected ones, the likeliest first.

    detail: whether the certified line also has the kind of the change, and the end of the changed part.
    """
    lines: dict[tuple[str, int], Line] = {}
    if certified is not None:
        change = kind_of_change(certified.edit.operator) if detail else ""
        start, stop = certified.edit.at
        part = (start, stop if detail else start)
        line = _line(certified.place, certified.place.text.line(start), change, part)
        # The line is stored under its own number and its statement's: then `setdefault` adds neither as a suspect.
        lines = {(line.file, number): line for number in (line.line, certified.edit.statement)}
    for place, number in suspects:
        lines.setdefault((sanitize(place.unit), number), _line(place, number))
    return tuple(dict.fromkeys(lines.values()))[:MAX_LINES]


def first_agreed(repairs: Sequence[Candidate]) -> Candidate | None:
    """Return the first repair if all repairs are in its statement or in one beside it; else None.

    If edits of distant statements each repair the answer, none of these statements can be certified. An
    edit that puts something in can have the effect of another edit elsewhere, so it counts only if no other edit
    repairs.
    """
    kept = [one for one in repairs if not one.edit.inserts]
    # Storing a result under another name may imitate an edit of the line that reads it: such edits come last.
    kept.sort(key=_stores_elsewhere)
    kept = kept or [one for one in repairs if one.edit.operator not in IMITATES]
    # One line that may be put in at several places is one repair: the place that was tried first is the likeliest.
    for other in [one for one in kept[1:] if not _same_new_line(one, kept[0])]:
        if other.place is not kept[0].place:
            return None
        first, second = (one.place.touched(one.edit) for one in (kept[0], other))
        if min(abs(i - j) for i in first for j in second) > 1:
            return None
    return kept[0] if kept else None


def _same_new_line(one: Candidate, other: Candidate) -> bool:
    """Whether two edits put the same line in, and change nothing else."""
    lines = []
    for edit in (one.edit, other.edit):
        start, stop, new = edit.pieces[0]
        if len(edit.pieces) > 1 or start != stop or "\n" not in new:
            return False
        lines.append(new.strip())
    return lines[0] == lines[1]


def _stores_elsewhere(one: Candidate) -> bool:
    """Whether an edit stores a result in another name, or in the tensor that it is computed from, as `relu_` does."""
    in_place = one.edit.operator == "function" and one.edit.pieces[0][2].endswith("_")
    return in_place or one.edit.operator == "target"


def _line(place: Place, number: int, change: str = "", part: tuple[int, int] | None = None) -> Line:
    """Return a line of the report. part: the bytes that an edit changes; None if the line is only suspected."""
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
    """Return what edits of a kind change, in words that fit many edits; "" if the kind alone gives the edit away."""
    return {
        CONSTANT: _("a constant"),
        VALUES: _("the values that it uses"),
        OPERATION: _("an operation"),
        RESULT: _("what is stored or returned"),
        CALL: _("a call"),
        AXES: _("the order of the axes"),
        ORDER: _("the order of the statements"),
    }.get(KINDS[operator][1], "")

"""The lines of code that a report shows: the one to look at, marked below, between its neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader.report.finding import EXCEPTION
from grader.report.model import ExerciseResult, Line
from grader.report.shared_sentences import first_failure
from grader.support.i18n import _, ngettext


@dataclass(frozen=True)
class Frame:
    """lead: the place in words, and how sure the grader is of it. first: the number of the first of the lines.

    file, line: the line to look at. mark: its columns that are underlined, start and stop.
    """

    lead: str
    file: str
    first: int
    lines: Sequence[str]
    line: int
    mark: tuple[int, int]

    @property
    def text(self) -> str:
        """Return the line to look at."""
        return self.lines[self.line - self.first]


def code_frame(result: ExerciseResult, around: int = 1) -> Frame | None:
    """Return the line to look at with `around` lines on each side; None if the report has no code, or names no line of it.

    That is, in this order: the line of a certified repair, the line of an exception, the likeliest line, and a line that
    a sentence names.
    """
    known, first = result.diagnosis, first_failure(result.checks)
    raised = (first.file, first.line) if first is not None and first.rule.startswith(EXCEPTION) else ("", 0)
    certain = bool(known.lines) and known.lines[0].certainty == "repaired"
    if known.lines and (certain or not raised[1]):
        return _framed(result, known.lines[0], _lead(known.lines, certain), around)
    places = [raised, (known.file, known.line)]
    code = result.code
    if code is not None:
        places += [(code.file, code.line)] if code.marked else []
        places += [(code.file, code.entry[1])] if result.outcome == "other_interface" else []
    at = next((place for place in places if place[1]), None)
    if at is None:
        return None
    lead = _("stopped at {place}") if at == raised else _("look at {place}")
    return _framed(result, Line(*at, "", "suspected"), lead.format(place=f"{at[0]}:{at[1]}"), around)


def _lead(lines: Sequence[Line], certain: bool) -> str:
    line = lines[0]
    place = f"{line.file}:{line.line}"
    if certain:
        change = f"   {_('({change})').format(change=line.change)}" if line.change else ""
        return _("look at {place}").format(place=place) + change
    others = [f"{one.line}" if one.file == line.file else f"{one.file}:{one.line}" for one in lines[1:]]
    says = ngettext("perhaps {place}, or line {others}", "perhaps {place}, or lines {others}", len(others))
    return (
        says.format(place=place, others=", ".join(others))
        if others
        else _("perhaps {place}").format(place=place)
    )


def _framed(result: ExerciseResult, at: Line, lead: str, around: int) -> Frame | None:
    """Return the line with its neighbours in the code of the exercise; alone, if that code does not have it."""
    code = result.code
    if code is not None and code.file == at.file and 0 <= at.line - code.first < len(code.lines):
        here = at.line - code.first
        above = min(here, around)
        lines, first = code.lines[here - above : here + around + 1], at.line - above
    elif at.text:
        lines, first = (at.text,), at.line
    else:
        return None
    text = lines[at.line - first]
    if not text.strip():
        return None
    indent = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    start, stop = at.touched if at.touched[1] else (0, len(text.strip()))
    begin = len(text) - len(text.lstrip()) - indent
    mark = (begin + start, begin + max(stop, start + 1))
    return Frame(lead, at.file, first, [line[indent:] for line in lines], at.line, mark)

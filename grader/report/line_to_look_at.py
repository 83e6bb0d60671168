"""The line of a report that names a line of code to look at."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from grader.report.finding import EXCEPTION
from grader.report.model import ExerciseResult, Line
from grader.report.shared_sentences import first_failure
from grader.support.i18n import _, ngettext

LEAST = 8  # columns that the code gets in any case


def lines_to_look_at(results: Sequence[ExerciseResult], width: int = 0) -> list[Text]:
    """Return one text per exercise that has a line to look at. The part that a change touches is underlined.

    width: columns of a text; its code is cut to fit. 0: the code is not cut.
    Suspected lines are left out if the report names a line already (see `_is_named`).
    """
    with_lines = [result for result in results if result.diagnosis.lines and not _is_named(result)]
    return [_look(r.diagnosis.lines, r.name if len(with_lines) > 1 else "", width) for r in with_lines]


def _is_named(result: ExerciseResult) -> bool:
    """Whether an exception was raised at the first suspected line, or the diagnosis begins with a line of its file."""
    line, first = result.diagnosis.lines[0], first_failure(result.checks)
    if line.certainty == "repaired":  # always shown
        return False
    raised_there = (
        first is not None
        and first.rule.startswith(EXCEPTION)
        and (first.file, first.line) == (line.file, line.line)
    )
    return raised_there or result.diagnosis.file == line.file


def _look(lines: Sequence[Line], name: str, width: int) -> Text:
    line = lines[0]
    code = Text(line.text)
    code.stylize("underline", *line.touched)
    place = f"{line.file}:{line.line}"
    certain = line.certainty == "repaired"
    lead = (_("look at {place}") if certain else _("perhaps look at {place}")).format(place=place)
    before = Text.assemble((f"{name}: " if name else ""), (lead, "bold"), "   ")
    after = Text()
    if line.change:
        after.append("   " + _("({change})").format(change=line.change), style="dim")
    if lines[1:] and not certain:
        others = [f"{one.line}" if one.file == line.file else f"{one.file}:{one.line}" for one in lines[1:]]
        says = ngettext("or at line {places}", "or at lines {places}", len(others))
        after.append("   " + says.format(places=", ".join(others)), style="bold")
    if width:
        code = _cut(code, line.touched, max(width - before.cell_len - after.cell_len, LEAST))
    return before.append_text(code).append_text(after)


def _cut(code: Text, touched: tuple[int, int], room: int) -> Text:
    """Cut the code to `room` columns: from its start, or if that hides the touched part, from that part on."""
    if code.cell_len > room and touched[1] >= room:
        # Begin at the touched part, or earlier if the code from there on does not fill the room.
        code = Text("…").append_text(code[min(touched[0], len(code) - room + 1) :])
    code.truncate(room, overflow="ellipsis")
    return code

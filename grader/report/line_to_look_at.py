"""The line of a report that names a line of code to look at."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from grader.report.model import ExerciseResult, Line
from grader.support.i18n import _


def lines_to_look_at(results: Sequence[ExerciseResult]) -> list[Text]:
    """Return one text per exercise with a line, with the part that a change touches underlined."""
    with_lines = [result for result in results if result.diagnosis.lines]
    return [_look(r.diagnosis.lines, r.name if len(with_lines) > 1 else "") for r in with_lines]


def _look(lines: Sequence[Line], name: str) -> Text:
    """The first line with its code; if it is only suspected, the places of the others too."""
    line = lines[0]
    code = Text(line.text)
    code.stylize("underline", *line.touched)
    place, *others = (f"{one.file}:{one.line}" for one in lines)
    certain = line.certainty == "repaired"
    lead = (_("look at {place}") if certain else _("perhaps look at {place}")).format(place=place)
    text = Text.assemble((f"{name}: " if name else ""), (lead, "bold"), "   ", code)
    if line.change:
        text.append("   " + _("({change})").format(change=line.change), style="dim")
    if others and not certain:
        text.append("   " + _("or at {places}").format(places=", ".join(others)), style="bold")
    return text

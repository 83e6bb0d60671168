"""The line of a report that names a line of code to look at."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from grader.report.model import ExerciseResult, Line
from grader.support.i18n import _


def lines_to_look_at(results: Sequence[ExerciseResult]) -> list[Text]:
    """Return one text per exercise with a line, with the part that a change touches underlined."""
    with_lines = [result for result in results if result.diagnosis.lines]
    return [_look(r.diagnosis.lines[0], r.name if len(with_lines) > 1 else "") for r in with_lines]


def _look(line: Line, name: str) -> Text:
    code = Text(line.text)
    code.stylize("underline", *line.touched)
    place = f"{line.file}:{line.line}"
    lead = _("look at {place}") if line.certainty == "repaired" else _("perhaps look at {place}")
    text = Text.assemble((f"{name}: " if name else ""), (lead.format(place=place), "bold"), "   ", code)
    if line.change:
        text.append("   " + _("({change})").format(change=line.change), style="dim")
    return text

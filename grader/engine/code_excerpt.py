"""Return the lines of an exercise in the submission, and mark those that its report names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from grader.intake.names import Definition
from grader.intake.read import Submission
from grader.report.model import Code, ExerciseResult
from grader.support.i18n import _
from grader.support.sanitize import sanitize

AROUND = 4  # lines before and after a named line, if there is no definition
MOST_LINES = 120
_FORWARD = re.compile(r"\s+(async )?def forward\(")


def code(result: ExerciseResult, submission: Submission, definition: Definition | None) -> Code | None:
    """Return the lines of a definition; without one, the lines around the first place that the result names.

    Return None if there is neither. The first line of a definition is not marked, because every exception of a call
    can be traced to it.
    """
    named = list(_named_lines(result, submission))
    if definition is not None:
        first, last, file = definition.line, definition.end, definition.unit
        named = [place for place in named if place != (file, first)]
    elif named:
        file, line = named[0]
        first, last = max(1, line - AROUND), line + AROUND
    else:
        return None
    source = next(unit.source for unit in submission.units if unit.name == file)
    lines = source.splitlines()[first - 1 : min(last, first + MOST_LINES - 1)]
    marked = {line for unit, line in named if unit == file and first <= line < first + len(lines)}
    shown = tuple(sanitize(line, 300) for line in lines)
    return Code(sanitize(file), first, shown, tuple(sorted(marked)), _entry(definition, lines))


def _entry(definition: Definition | None, lines: Sequence[str]) -> tuple[str, int]:
    """Return the name and line of the definition, or of a class's `forward` if `lines` have it; ("", 0) for None."""
    if definition is None:
        return "", 0
    found = (n for n, line in enumerate(lines) if definition.kind == "class" and _FORWARD.match(line))
    at = next(found, None)
    name = sanitize(definition.name) if at is None else "forward"
    return name, definition.line + (at or 0)


def _named_lines(result: ExerciseResult, submission: Submission) -> Iterator[tuple[str, int]]:
    """Yield the file and the number of each line that the texts of a result name."""
    texts = [result.message, *(check.where for check in result.checks)]
    if not result.diagnosis.alternatives:
        # With a known mistake, the lines that these texts name may not contain it.
        texts += [result.diagnosis.says, *result.remarks]
    for unit in submission.units:
        template = _("{file}, line {line}").format(file=sanitize(unit.name), line="\0")
        pattern = re.escape(template).replace(re.escape("\0"), r"(\d{1,7})")
        for text in texts:
            for number in re.findall(pattern, text):
                yield unit.name, int(number)

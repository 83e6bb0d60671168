"""Write findings as sentences, once, for a public or for a hidden report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from string import Formatter
from typing import Any

from grader.report.finding import CodeLine, Fact, Finding, Spot
from grader.report.sentences import OF_THE_COURSE, ROWS, SAFE, WRONG_RESULT
from grader.support.i18n import _
from grader.support.sanitize import sanitize


@cache
def placeholders(text: str) -> frozenset[str]:
    """Return the names in braces."""
    return frozenset(name for _text, name, _spec, _conversion in Formatter().parse(text) if name)


@cache
def _hidden_rules() -> Mapping[tuple[str, ...], str]:
    """Return the sentences for hidden reports → the first rule that has them."""
    return {row.hidden: rule for rule, row in reversed(ROWS.items()) if row.hidden}


@dataclass(frozen=True)
class Writer:
    """Writes for one report.

    hidden: its cases are hidden. files: the name of each file of the submission → its number of lines. Student code can
    forge the number of a line; one beyond the end of the file could carry more of a hidden input.
    """

    hidden: bool = False
    files: Mapping[str, int] = field(default_factory=dict)

    def sentence(self, fact: Fact | None, otherwise: str = "") -> str:
        """Return the sentence of a fact; `otherwise` if this report may not have it, or if there is no fact.

        The advice about an exception follows as a second sentence.
        """
        if fact is None:
            return ""
        row = ROWS[fact.rule]
        writer = PUBLIC if row.early else self
        values = writer._values(fact)
        texts = row.hidden if writer.hidden else row.shown
        text = next((text for text in texts if placeholders(text) <= values.keys()), None)
        said = otherwise if text is None else _(text).format(**values) if text else ""
        advice = self.sentence(fact.advice) if isinstance(fact, Finding) else ""
        return sanitize(f"{said.rstrip('.')}. {advice}" if advice else said)

    def _values(self, fact: Fact) -> dict[str, Any]:
        known = {n: v for n, v in fact.data.items() if v is not None and (n in SAFE or not self.hidden)}
        return {name: self._value(name, value) for name, value in known.items()}

    def _value(self, name: str, value: Any) -> Any:
        if isinstance(value, Fact):
            return self.sentence(value)
        if isinstance(value, tuple):
            return ("; " if name == "parts" else ", ").join(map(self.sentence, value))
        return _(value) if name in OF_THE_COURSE and value else value

    def message(self, finding: Finding) -> str:
        """Return the sentence of a check, or a general one."""
        return self.sentence(finding, _(WRONG_RESULT))

    def rule(self, fact: Fact) -> str:
        """Return the rule of a fact. In a hidden report, it is the first one with the same sentence; "" without one."""
        return _hidden_rules().get(ROWS[fact.rule].hidden, "") if self.hidden else fact.rule

    def where(self, finding: Finding) -> str:
        """Return the place of a finding; "" if it has none that this report may have."""
        place = finding.place
        if isinstance(place, Fact):
            return self.sentence(place)
        if isinstance(place, CodeLine):
            return self._code_line(place)
        return "" if place is None else sanitize(spot_text(place))

    def _code_line(self, place: CodeLine) -> str:
        if not self._may_name(place):
            return ""
        where = _("{file}, line {line}").format(file=sanitize(place.file), line=place.line)
        return sanitize(f"{where}: {place.text}") if place.text and not self.hidden else where

    def _may_name(self, place: CodeLine) -> bool:
        return not self.hidden or place.line <= self.files.get(place.file, -1)

    def line(self, fact: Fact | None) -> tuple[str, int]:
        """Return the file and the number of the line that the place or the sentence of a fact names; ("", 0) for none."""
        place = line_of(fact)
        if place is None or fact is None:
            return "", 0
        may_name = ROWS[fact.rule].early or self._may_name(place)
        return (sanitize(place.file), place.line) if may_name else ("", 0)


PUBLIC = Writer()


def line_of(fact: Fact | None) -> CodeLine | None:
    """Return the line of the submission that a fact is about; None if it is about none."""
    if fact is None:
        return None
    if isinstance(fact, Finding):
        return fact.place if isinstance(fact.place, CodeLine) else None
    file, line = fact.data.get("file"), fact.data.get("line")
    return CodeLine(file, line) if isinstance(file, str) and isinstance(line, int) and line else None


def spot_text(spot: Spot) -> str:
    """Return "batch 0, query 1, key 2", or "[0, 1, 2]" if the axes have no names; before it what the tensor is."""
    index, axes = spot.index, spot.axes
    if axes and len(axes) == len(index):
        at = ", ".join(f"{axis} {i}" for axis, i in zip(axes, index, strict=True))
    else:
        at = "[" + ", ".join(map(str, index)) + "]" if index else ""
    return ": ".join(filter(None, (spot.of, at)))

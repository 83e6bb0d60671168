"""What the grader finds, as data, and the writer that makes sentences of it, once, for a public or for a hidden report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from string import Formatter
from typing import Any

from grader.report.sentences import OF_THE_COURSE, ROWS, SAFE, WRONG_RESULT
from grader.support.i18n import _, ngettext
from grader.support.sanitize import sanitize


@dataclass(frozen=True)
class Fact:
    """A rule of the table in `sentences.py`, and the values of its placeholders.

    A value may be a fact itself, or a tuple of facts; None counts as no value. `file` and `line`, if the rule has them,
    name a line of the submission. Further values are for the diagnosis and for pictures.
    """

    rule: str
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """Return the rule without its variant: "values" of "values/nan"."""
        return self.rule.partition("/")[0]


@dataclass(frozen=True)
class CodeLine:
    """A line of the submission, and its text if it is shown."""

    file: str
    line: int
    text: str = ""


@dataclass(frozen=True)
class Spot:
    """An element of a tensor of the course: its index, and the names of the axes if they have any.

    of: what the tensor is, if the place should say it: a gradient or a weight.
    """

    index: tuple[int, ...] = ()
    axes: tuple[str, ...] = ()
    of: str = ""


@dataclass(frozen=True)
class Finding(Fact):
    """The result of one check. `expected` and `got` are values as text, which no hidden report shows.

    advice: what to do about an exception.
    """

    place: CodeLine | Spot | Fact | None = None
    expected: str = ""
    got: str = ""
    advice: Fact | None = None

    @property
    def passed(self) -> bool:
        return self.kind == "passed"


PASSED = Finding("passed")
EXCEPTION = "exception"  # the kind of an exception that student code raised
STOPPED = "lost/time"  # the rule of code that was stopped after its time


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
        if text and row.many:
            text = ngettext(text, row.many, values["n"])
        elif text:
            text = _(text)
        said = otherwise if text is None else text.format(**values)
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
        at = ", ".join(map(_on_axis, axes, index))
    else:
        at = "[" + ", ".join(map(str, index)) + "]" if index else ""
    return ": ".join(filter(None, (spot.of, at)))


def _on_axis(axis: str, i: int) -> str:
    """Return "query 1"; for entry 13 of the axis "batch·head/3", which has 3 heads per sequence, "batch 4, head 1"."""
    name, _slash, inner = axis.partition("/")
    if not inner:
        return f"{name} {i}"
    return ", ".join(f"{one} {at}" for one, at in zip(name.split("·"), divmod(i, int(inner)), strict=True))

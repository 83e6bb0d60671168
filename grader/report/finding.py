"""What the grader finds, as data. `writer.py` makes sentences of it, for a public or for a hidden report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


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

"""Read `headway.toml`, in which a course says what it changes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from grader.bundle.model import FACETS, POLICIES
from grader.bundle.rules import PAGE, Rules
from grader.support.errors import UsageError
from grader.support.files import read_within
from grader.support.i18n import _
from grader.support.sanitize import sanitize

MAX_BYTES = 1 << 16
KEEP = ("newest", "best")
MISSING = ("blank", "zero")
MAX_TITLE = 255  # as in Canvas


def _one_of(names: tuple[str, ...]) -> Meta:
    """Allow these texts. Unlike `Literal`, a pattern is in the message about another one."""
    return Meta(pattern=f"^({'|'.join(names)})$")


Number = Annotated[float, Meta(ge=0, le=10_000)]
Facet = Annotated[str, _one_of(FACETS)]


class CourseFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of a course: the file, key by key.

    name_lines: whether to search for the line to look at. keep: which of two submissions of an exercise counts.
    missing: the cell in a gradebook of a student who submitted nothing. canvas: assignment → its name in Canvas.
    The other keys are the `rules`.
    """

    course: Any = None  # any value: a name for readers of the file
    policies_that_count: tuple[Annotated[str, _one_of(POLICIES)], ...] = ()
    name_lines: bool = True
    level: Annotated[int, Meta(ge=0, le=PAGE)] = PAGE
    keep: Annotated[str, _one_of(KEEP)] = KEEP[0]
    missing: Annotated[str, _one_of(MISSING)] = MISSING[0]
    points: dict[str, Number] = {}
    weights: dict[str, Number | dict[Facet, Number]] = {}  # facet → weight, or exercise → facet → weight
    canvas: dict[str, Annotated[str, Meta(min_length=1, max_length=MAX_TITLE)]] = {}

    def __post_init__(self) -> None:
        for name, value in self.weights.items():
            if not isinstance(value, dict) and name not in FACETS:
                says = _("weights.{name}: the facets are {names}")
                raise ValueError(says.format(name=name, names=", ".join(FACETS)))
        for name, title in self.canvas.items():
            if not title.isprintable():
                raise ValueError(_("canvas.{name}: it is more than one line").format(name=name))

    @property
    def rules(self) -> Rules:
        own = {name: value for name, value in self.weights.items() if isinstance(value, dict)}
        everywhere = {name: value for name, value in self.weights.items() if not isinstance(value, dict)}
        return Rules(frozenset(self.policies_that_count), self.points, everywhere, own, self.level)


def read_course_file(path: Path) -> CourseFile:
    """Read the file. Raises UsageError with one sentence: why it cannot be read, or which key is wrong."""
    try:
        return msgspec.toml.decode(read_within(path, MAX_BYTES), type=CourseFile)
    except (OSError, ValueError, RecursionError) as error:
        why = sanitize(str(error), 200)
        raise UsageError(_("{file} cannot be read: {why}").format(file=path, why=why)) from None

"""Read `headway.toml`, in which a course says what it changes. A wrong value gets a sentence with its key."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.bundle.model import FACETS, POLICIES
from grader.bundle.rules import NO_RULES, PAGE, Rules
from grader.support.errors import UsageError
from grader.support.files import read_within
from grader.support.i18n import _
from grader.support.sanitize import sanitize

MAX_BYTES = 1 << 16
MAX_NUMBER = 10_000
KEEP = ("newest", "best")
MISSING = ("blank", "zero")
MAX_TITLE = 255  # as in Canvas
KEYS = (
    "course",
    "policies_that_count",
    "name_lines",
    "level",
    "keep",
    "missing",
    "points",
    "weights",
    "canvas",
)


@dataclass(frozen=True)
class CourseFile:
    """The settings of a course.

    name_lines: whether to search for the line to look at. keep: which of two submissions of an exercise counts.
    missing: the cell in a gradebook of a student who submitted nothing. canvas: assignment → its name in Canvas.
    """

    rules: Rules = NO_RULES
    name_lines: bool = True
    keep: str = KEEP[0]
    missing: str = MISSING[0]
    canvas: Mapping[str, str] = field(default_factory=dict)


def read_course_file(path: Path) -> CourseFile:
    """Read the file. Raises UsageError with one sentence: why it cannot be read, or which key is wrong and what is
    allowed.
    """
    try:
        fields = tomllib.loads(read_within(path, MAX_BYTES).decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        why = sanitize(str(error), 200)
        raise UsageError(_("{file} cannot be read: {why}").format(file=path, why=why)) from None
    return _Reader(path, fields).read()


@dataclass(frozen=True)
class _Reader:
    path: Path
    fields: Mapping[str, Any]

    def read(self) -> CourseFile:
        for key in self.fields:
            if key not in KEYS:
                raise self._wrong(key, None, _("the keys are {keys}").format(keys=", ".join(KEYS)))
        weights = self._table("weights")
        own = {name: value for name, value in weights.items() if isinstance(value, dict)}
        rules = Rules(
            counted=self._policies(),
            points={name: self._number(f"points.{name}", n) for name, n in self._table("points").items()},
            weights=self._weights("weights", {k: v for k, v in weights.items() if k not in own}),
            own_weights={name: self._weights(f"weights.{name}", table) for name, table in own.items()},
            level=self._one_of("level", PAGE, tuple(range(PAGE + 1))),  # PAGE is the highest level
        )
        lines = self._one_of("name_lines", True, (True, False))
        keep, missing = self._one_of("keep", KEEP[0], KEEP), self._one_of("missing", MISSING[0], MISSING)
        return CourseFile(rules, lines, keep, missing, self._titles())

    def _titles(self) -> dict[str, str]:
        titles = dict(self._table("canvas"))
        for name, title in titles.items():
            if not (isinstance(title, str) and 0 < len(title) <= MAX_TITLE and title.isprintable()):
                says = _(
                    "it is the assignment's name in Canvas: a text of 1 to {most} characters on one line"
                )
                raise self._wrong(f"canvas.{name}", title, says.format(most=MAX_TITLE))
        return titles

    def _policies(self) -> tuple[str, ...]:
        named = self.fields.get("policies_that_count", [])
        known = ", ".join(POLICIES)
        if not isinstance(named, list):
            allowed = _("must be a list of policies; the policies are {known}").format(known=known)
            raise self._wrong("policies_that_count", None, allowed)
        for name in named:
            if name not in POLICIES:
                says = _("must be a list of policies; {name} is not a policy; the policies are {known}")
                raise self._wrong("policies_that_count", None, says.format(name=_text_of(name), known=known))
        return tuple(dict.fromkeys(named))

    def _table(self, key: str) -> Mapping[str, Any]:
        value = self.fields.get(key, {})
        if not isinstance(value, dict):
            says = _("it is a table: write [{key}], and one line per name")
            raise self._wrong(key, value, says.format(key=key))
        return value

    def _weights(self, key: str, table: Mapping[str, Any]) -> dict[str, float]:
        for facet in table:
            if facet not in FACETS:
                says = _("the facets are {names}").format(names=", ".join(FACETS))
                raise self._wrong(f"{key}.{facet}", None, says)
        return {facet: self._number(f"{key}.{facet}", value) for facet, value in table.items()}

    def _number(self, key: str, value: object) -> float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        number: Any = value if is_number else math.nan  # `<=` with NaN is false
        if not 0 <= number <= MAX_NUMBER:
            raise self._wrong(key, value, _("it is a number from 0 to {most}").format(most=MAX_NUMBER))
        return float(number)

    def _one_of(self, key: str, default: Any, allowed: tuple[Any, ...]) -> Any:
        value = self.fields.get(key, default)
        if not any(value == one and type(value) is type(one) for one in allowed):
            names = _(" or ").join(map(json.dumps, allowed))
            raise self._wrong(key, value, _("must be {names}").format(names=names))
        return value

    def _wrong(self, key: str, value: object, allowed: str) -> UsageError:
        shown = "" if value is None else f" = {_text_of(value)}"
        return UsageError(f"{self.path}: {sanitize(key, 100)}{shown}: {allowed}")


def _text_of(value: object) -> str:
    try:
        return sanitize(repr(value), 100)
    except ValueError:  # Python writes no integer of more than 4300 digits
        return _("a very large number")

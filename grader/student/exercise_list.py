"""The state of the list of exercises on the screen: cursor, filter, and last outcomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from grader.bundle.model import Bundle
from grader.intake.course import Course
from grader.intake.read import read_bytes
from grader.intake.stub_changes import answers
from grader.student import progress
from grader.student.progress import LastCheck

FILTERS = ("all", "to do", "passed")
UP, DOWN, ENTER, BACK = "up", "down", "enter", "back"
_KEYS = {
    "k": UP,
    "j": DOWN,
    "\r": ENTER,
    "\n": ENTER,
    "l": BACK,  # the key that opens the list
    "\x1b[A": UP,
    "\x1b[B": DOWN,
    "\x1bOA": UP,
    "\x1bOB": DOWN,
}


@dataclass(frozen=True)
class Row:
    """One exercise with its last outcome. score: None if it could not be graded."""

    assignment: str
    name: str
    outcome: str
    score: float | None
    points: float


def rows_of(course: Course) -> list[Row]:
    """Return the exercises of a course in their order.

    The outcome is "not_checked" if the exercise is written, but was not started at the last check, or never checked.
    """
    known = progress.load(course.root)
    return [
        Row(
            bundle.assignment,
            exercise.name,
            _outcome(course, bundle, exercise.name, known),
            known[exercise.name].score,
            exercise.points,
        )
        for bundle in course.bundles
        for exercise in bundle.exercises
    ]


def _outcome(course: Course, bundle: Bundle, name: str, known: Mapping[str, LastCheck]) -> str:
    outcome = known[name].outcome
    if outcome != "not_started":
        return outcome
    file = course.file_for(bundle)
    written = file.is_file() and answers(file, partial(read_bytes, file), bundle.stub, [name])
    return "not_checked" if written else outcome


@dataclass
class ExerciseList:
    """Moves a cursor over the exercises that a filter lets through."""

    rows: Sequence[Row]
    current: str = ""
    filter: str = FILTERS[0]

    def __post_init__(self) -> None:
        if not any(row.name == self.current for row in self.rows):
            self.current = self.rows[0].name

    @property
    def shown(self) -> list[Row]:
        """Return the exercises that match the filter, and always the current one."""
        # Filter → the exercises that match: True for those that have passed, False for the others.
        wanted = {"all": (True, False), "to do": (False,), "passed": (True,)}[self.filter]
        return [row for row in self.rows if (row.outcome == "passed") in wanted or row.name == self.current]

    def press(self, key: str) -> str:
        """Move the cursor or change the filter. Return "enter" or "back" if the list is left, else ""."""
        low = key.lower()
        key = _KEYS.get(key) or _KEYS.get(low, low)  # first as it is: escape sequences have capital letters
        if key in (UP, DOWN):
            names = [row.name for row in self.shown]
            at = names.index(self.current) + (1 if key == DOWN else -1)
            self.current = names[min(max(at, 0), len(names) - 1)]
        elif key == "f":
            self.filter = FILTERS[(FILTERS.index(self.filter) + 1) % len(FILTERS)]
        return key if key in (ENTER, BACK) else ""

    def part(self, height: int) -> list[Row]:
        """Return as many of the shown rows as fit, with the current one near the middle."""
        names = [row.name for row in self.shown]
        first = max(0, min(names.index(self.current) - height // 2, len(names) - height))
        return self.shown[first : first + height]

"""The state of the list of exercises on the screen: cursor, filter, and last outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from grader.intake.course import Course
from grader.intake.names import answers
from grader.intake.read import read_bytes
from grader.student import progress
from grader.support.i18n import _

# Filter → the exercises that match: True for those that have passed, False for the others.
FILTERS = {_("all"): (True, False), _("to do"): (False,), _("passed"): (True,)}
MOVES = {"k": -1, "j": 1, "\x1b[A": -1, "\x1b[B": 1, "\x1bOA": -1, "\x1bOB": 1}
ENTER, BACK = "enter", "back"
LEAVES = {"\r": ENTER, "\n": ENTER, "l": BACK}  # `l` also opens the list


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
    rows = []
    for bundle in course.bundles:
        file = course.file_for(bundle)
        for exercise in bundle.exercises:
            name, outcome = exercise.name, known[exercise.name].outcome
            if outcome == "not_started" and file.is_file():
                written = answers(file, partial(read_bytes, file), bundle.stub, [name])
                outcome = "not_checked" if written else outcome
            rows.append(Row(bundle.assignment, name, outcome, known[name].score, exercise.points))
    return rows


@dataclass
class ExerciseList:
    """Moves a cursor over the exercises that a filter lets through."""

    rows: Sequence[Row]
    current: str = ""
    filter: str = next(iter(FILTERS))

    def __post_init__(self) -> None:
        if not any(row.name == self.current for row in self.rows):
            self.current = self.rows[0].name

    @property
    def shown(self) -> list[Row]:
        """Return the exercises that match the filter, and always the current one."""
        wanted = FILTERS[self.filter]
        return [row for row in self.rows if (row.outcome == "passed") in wanted or row.name == self.current]

    def press(self, key: str) -> str:
        """Move the cursor or change the filter. Return "enter" or "back" if the list is left, else ""."""
        key = key if key in MOVES else key.lower()  # arrows are escape sequences with capital letters
        if key in MOVES:
            names = [row.name for row in self.shown]
            at = names.index(self.current) + MOVES[key]
            self.current = names[min(max(at, 0), len(names) - 1)]
        elif key == "f":
            filters = list(FILTERS)
            self.filter = filters[(filters.index(self.filter) + 1) % len(filters)]
        return LEAVES.get(key, "")

    def part(self, height: int) -> list[Row]:
        """Return as many of the shown rows as fit, with the current one near the middle."""
        names = [row.name for row in self.shown]
        first = max(0, min(names.index(self.current) - height // 2, len(names) - height))
        return self.shown[first : first + height]

"""The list of exercises on the screen: its rows with their last outcomes, and the cursor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path

from grader.bundle.model import Exercise
from grader.intake.course import Course
from grader.intake.names import answers
from grader.intake.read import read_bytes
from grader.student import progress
from grader.support.i18n import _

MOVES = {"k": -1, "j": 1, "\x1b[A": -1, "\x1b[B": 1, "\x1bOA": -1, "\x1bOB": 1}
ENTER, BACK = "enter", "back"
LEAVES = {"\r": ENTER, "\n": ENTER, "l": BACK}  # `l` also opens the list


@dataclass(frozen=True)
class Row:
    """One exercise with its last outcome.

    heading: the title of its assignment. file: in the course folder. score: None if it could not be graded.
    """

    heading: str
    file: Path
    exercise: Exercise
    outcome: str
    score: float | None

    @property
    def name(self) -> str:
        return self.exercise.name


def rows_of(course: Course) -> list[Row]:
    """Return the exercises of a course in their order.

    The outcome is "not_checked" if the exercise is written, but was not started at the last check, or never checked.
    """
    known = progress.load(course.root)
    rows = []
    for bundle in course.bundles:
        file = course.file_for(bundle)
        heading = _("{number} {title} · about {minutes} minutes").format(
            number=bundle.assignment.partition("_")[0], title=_(bundle.title), minutes=bundle.minutes
        )
        for exercise in bundle.exercises:
            outcome = known[exercise.name].outcome
            if outcome == "not_started" and file.is_file():
                written = answers(file, partial(read_bytes, file), bundle.stub, [exercise.name])
                outcome = "not_checked" if written else outcome
            place, score = file.relative_to(course.root), known[exercise.name].score
            rows.append(Row(heading, place, exercise, outcome, score))
    return rows


@dataclass
class ExerciseList:
    """Moves a cursor over the exercises. current: the name of the one at the cursor."""

    rows: Sequence[Row]
    current: str

    def press(self, key: str) -> str:
        """Move the cursor. Return "enter" or "back" if the list is left, else ""."""
        key = key if key in MOVES else key.lower()  # arrows are escape sequences with capital letters
        if key in MOVES:
            names = [row.name for row in self.rows]
            at = names.index(self.current) + MOVES[key]
            self.current = names[min(max(at, 0), len(names) - 1)]
        return LEAVES.get(key, "")

    def part(self, height: int) -> list[tuple[str, Row | None]]:
        """Return the lines that fit, with the current row near the middle: headings, each with None, and rows.

        The first line is a heading, also if its group begins further up.
        """
        groups = groupby(self.rows, lambda row: row.heading)
        lines = [(heading, row) for heading, group in groups for row in (None, *group)]
        at = next(i for i, (_heading, row) in enumerate(lines) if row and row.name == self.current)
        first = max(0, min(at - height // 2, len(lines) - height))
        rest = lines[first + 1 : first + height]
        return rest if rest[0][1] is None else [(rest[0][0], None), *rest]

"""`grader` without a command: the list of exercises, and what is next."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import click
from rich.console import Console, Group, RenderableType
from rich.text import Text

from grader.intake.course import find
from grader.report.model import points_of
from grader.report.shared_sentences import LOOKS, outcome_name, points, total_points
from grader.report.terminal import overview
from grader.student import progress
from grader.student.exercise_list import ENTER, ExerciseList, Row, rows_of
from grader.student.terminal_keys import QUIT
from grader.support.i18n import _


def show_map() -> None:
    """Print every assignment with its exercises, their last outcomes, and the next exercise."""
    course, console = find(), Console(highlight=False)
    rows = rows_of(course)
    groups = [
        (Text(heading, style="bold"), [(row.name, row.outcome, _amount(row)) for row in group])
        for heading, group in groupby(rows, lambda row: row.heading)
    ]
    name = progress.next_to_do(course.root, [row.name for row in rows])
    last = _("{score}. All exercises passed.").format(score=_all_points(rows))
    for row in (row for row in rows if row.name == name):
        says = _("{score}.\nNext: {name}, {minutes} min, in {file}.\nThen run `grader check {name}`.")
        last = says.format(score=_all_points(rows), name=name, minutes=row.exercise.minutes, file=row.file)
    console.print(*overview(groups, console.width), Text(), Text(last), sep="\n")


def _amount(row: Row) -> str:
    """Return the minutes of an exercise; once it was graded, its points."""
    if row.outcome in ("not_started", "not_checked"):
        return _("{n} min").format(n=row.exercise.minutes)
    return points(row.score, row.exercise.points)


def _all_points(rows: Sequence[Row]) -> str:
    return total_points(
        points_of((row.exercise.second, row.score or 0.0, row.exercise.points) for row in rows)
    )


BAR_WIDTH = 30  # columns
LEAST_TITLE = 20  # columns; with less room, a list has no titles


def course_bar(rows: Sequence[Row], width: int) -> Text:
    """Return how many exercises have passed, as a bar and in numbers, and the points."""
    passed = sum(row.outcome == "passed" for row in rows)
    text = _("{passed} of {all} exercises passed, {score}").format(
        passed=passed, all=len(rows), score=_all_points(rows)
    )
    size = max(0, min(BAR_WIDTH, width - len(text) - 2))
    full = size * passed // len(rows)
    return Text.assemble(("━" * full, "green"), ("─" * (size - full), "dim"), "  " if size else "", text)


def list_screen(shown: ExerciseList, console: Console) -> RenderableType:
    """Return the bar, the exercises that fit below their headings, more about the current one, and the keys."""
    current = next(row for row in shown.rows if row.name == shown.current)
    about = _("{title}\n{outcome}, {score} points · about {minutes} minutes · {file}").format(
        title=_(current.exercise.title),
        outcome=outcome_name(current.outcome),
        score=points(current.score, current.exercise.points),
        minutes=current.exercise.minutes,
        file=current.file.name,
    )
    keys = _("j/k or arrows: move · Enter: work on it · l: back · q: quit")
    above = course_bar(shown.rows, console.width), Text()
    below = Text(), Text(about), Text(), Text(keys, style="dim")
    room = console.height - len(console.render_lines(Group(*above, *below))) - 1  # for the line of the cursor
    sizes = max(len(row.name) for row in shown.rows), max(len(_amount(row)) for row in shown.rows)
    lines = [
        _line(row, row is current, sizes, console.width)
        if row
        else Text(heading, "bold", overflow="ellipsis", no_wrap=True)
        for heading, row in shown.part(max(3, room))
    ]
    return Group(*above, *lines, *below)


def _line(row: Row, here: bool, sizes: tuple[int, int], width: int) -> Text:
    """Return the mark, the name, the title if there is room, and the amount. sizes: columns of name and amount."""
    mark, _name, style = LOOKS[row.outcome]
    start = Text.assemble("> " if here else "  ", (mark, style), " ")
    start.append(f"{row.name:{sizes[0]}}", style="reverse" if here else "")
    room = max(0, width - start.cell_len - 2 - sizes[1])
    title = Text(f"  {_(row.exercise.title)}" if room > LEAST_TITLE else "", style="dim")
    title.truncate(room, overflow="ellipsis", pad=True)
    return Text.assemble(start, title, f"  {_amount(row):>{sizes[1]}}")


def choose(start: Path) -> str:
    """Let a student choose from the list. Return the exercise, or "" if they leave."""
    course, console = find(start), Console(highlight=False)
    rows = rows_of(course)
    shown = ExerciseList(rows, progress.to_continue_with(course.root, [row.name for row in rows]))
    while True:
        console.clear()
        console.print(list_screen(shown, console))
        try:
            key = click.getchar()
        except (KeyboardInterrupt, EOFError):
            return ""
        if key in QUIT:
            return ""
        if done := shown.press(key):
            return shown.current if done == ENTER else ""

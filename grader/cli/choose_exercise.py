"""Show the list of exercises, and let a student choose one."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from grader.intake.course import find
from grader.report.shared_sentences import points
from grader.report.terminal import outcome_text
from grader.student import progress
from grader.student.exercise_list import ENTER, ExerciseList, Row, rows_of
from grader.student.terminal_keys import QUIT
from grader.support.i18n import _

BAR_WIDTH = 30  # columns
OTHER_LINES = 7  # of the screen, besides the exercises: the bar, the filter, the keys and empty lines


def course_bar(rows: list[Row], width: int) -> Text:
    """Return how many exercises have passed, as a bar and in numbers, and the points."""
    passed = sum(row.outcome == "passed" for row in rows)
    score = points(sum(row.score or 0.0 for row in rows), sum(row.points for row in rows))
    text = _("{passed} of {all} exercises passed, {score} points").format(
        passed=passed, all=len(rows), score=score
    )
    size = max(0, min(BAR_WIDTH, width - len(text) - 2))
    full = size * passed // len(rows)
    return Text.assemble(("━" * full, "green"), ("─" * (size - full), "dim"), "  " if size else "", text)


def list_screen(shown: ExerciseList, width: int, height: int) -> RenderableType:
    """Return the bar, the exercises that fit, and the keys."""
    filters = {"all": _("all"), "to do": _("to do"), "passed": _("passed")}
    table = Table.grid(padding=(0, 2, 0, 0))
    for _column in range(4):
        table.add_column(no_wrap=True)
    for row in shown.part(max(3, height - OTHER_LINES)):
        here = row.name == shown.current
        table.add_row(
            Text(">" if here else " "),
            Text(f"{row.assignment[:2]} {row.name}", style="reverse" if here else ""),
            outcome_text(row.outcome),
            Text(points(row.score, row.points)),
        )
    return Group(
        course_bar(list(shown.rows), width),
        Text(_("Filter: {name}").format(name=filters[shown.filter])),
        Text(),
        table,
        Text(),
        Text(_("j/k or arrows: move · Enter: work on it · f: filter · l: back · q: quit"), style="dim"),
    )


def choose(console: Console, start: Path) -> str:
    """Let a student choose from the list. Return the exercise, or "" if they leave."""
    course = find(start)
    shown = ExerciseList(rows_of(course), progress.load_current(course.root))
    while True:
        console.clear()
        console.print(list_screen(shown, console.width, console.height))
        try:
            key = click.getchar()
        except (KeyboardInterrupt, EOFError):
            return ""
        if key in QUIT:
            return ""
        done = shown.press(key)
        if done:
            return shown.current if done == ENTER else ""

"""`grader` without a command: the list of exercises, and what is next."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console, Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from grader.intake.course import Course, find
from grader.report.shared_sentences import points
from grader.report.terminal import outcome_text, overview
from grader.student import progress
from grader.student.exercise_list import ENTER, ExerciseList, Row, rows_of
from grader.student.terminal_keys import QUIT
from grader.support.i18n import _


def show_map() -> None:
    """Print every assignment with its exercises, their last outcomes, and the next exercise."""
    course, console = find(), Console(highlight=False)
    rows, groups = rows_of(course), []
    for bundle in course.bundles:
        about = _("about {minutes} minutes").format(minutes=bundle.minutes)
        heading = Text.assemble((bundle.assignment, "bold"), f" · {_(bundle.title)} · {about}")
        mine = [row for row in rows if row.assignment == bundle.assignment]
        groups.append((heading, [(row.name, row.outcome, points(row.score, row.points)) for row in mine]))
    console.print(*overview(groups, console.width), Text(), _next(course), sep="\n")


def _next(course: Course) -> Text:
    """Return the points, and the next exercise: the first that has not passed, but whose needed exercises have.

    Needed exercises that this course does not have are ignored.
    """
    known = progress.load(course.root)
    passed = {name for name, entry in known.items() if entry.outcome == "passed"}
    everything = [(b, e) for b in course.bundles for e in b.exercises]
    names_here = {e.name for _b, e in everything}
    earned = sum((known[e.name].score or 0.0) for _b, e in everything)
    score = points(earned, sum(e.points for _b, e in everything))
    for bundle, exercise in everything:
        open_needs = [need for need in exercise.needs if need in names_here and need not in passed]
        if exercise.name not in passed and not open_needs:
            files = [file for file in course.possible_files(bundle) if file.exists()]
            names = [str(file.relative_to(course.root)) for file in files or [course.file_for(bundle)]]
            says = _("{score} points.\nNext: {name} in {files}. Then run `grader check {name}`.")
            return Text(says.format(score=score, name=exercise.name, files=_(" or ").join(names)))
    return Text(_("{score} points. All exercises passed.").format(score=score))


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
    table = Table.grid(*(Column(no_wrap=True) for _part in range(4)), padding=(0, 2, 0, 0))
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
        Text(_("Filter: {name}").format(name=shown.filter)),
        Text(),
        table,
        Text(),
        Text(_("j/k or arrows: move · Enter: work on it · f: filter · l: back · q: quit"), style="dim"),
    )


def choose(start: Path) -> str:
    """Let a student choose from the list. Return the exercise, or "" if they leave."""
    course, console = find(start), Console(highlight=False)
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
        if done := shown.press(key):
            return shown.current if done == ENTER else ""

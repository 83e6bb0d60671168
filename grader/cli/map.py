"""`grader` without a command: the list of exercises, and what is next."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader.bundle.model import Bundle
from grader.intake.course import find
from grader.report.terminal import outcome_text
from grader.report.words import points
from grader.student import progress
from grader.support.i18n import _


def show_map(start: Path | None = None) -> None:
    """Print every assignment with its exercises, their last outcomes, and the next exercise."""
    course = find(start or Path.cwd())
    known = progress.load(course.root)
    console = Console(highlight=False)
    for bundle in course.bundles:
        console.print(_heading(bundle))
        console.print(_table(bundle, known, aligned=console.width >= 60))
    console.print()
    console.print(_next(course.bundles, known))


def _heading(bundle: Bundle) -> Text:
    about = _("about {minutes} minutes").format(minutes=bundle.minutes)
    return Text.assemble((bundle.assignment, "bold"), f" · {_(bundle.title)} · {about}")


def _table(bundle: Bundle, known: dict[str, dict[str, object]], *, aligned: bool) -> Table:
    """Return one row per exercise; `aligned` with the tables of the other assignments."""
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(overflow="fold", min_width=28 if aligned else None)
    table.add_column(min_width=20 if aligned else None)
    table.add_column(no_wrap=True, justify="right")
    for exercise in bundle.exercises:
        entry = known.get(exercise.name, {})
        outcome, score = str(entry.get("outcome", "not_started")), entry.get("score", 0.0)
        table.add_row(
            Text(f"  {exercise.name}"),
            outcome_text(outcome),
            Text(points(score if isinstance(score, float) else None, exercise.points)),
        )
    return table


def _next(bundles: list[Bundle], known: dict[str, dict[str, object]]) -> Text:
    passed = {name for name, entry in known.items() if entry.get("outcome") == "passed"}
    everything = [(b, e) for b in bundles for e in b.exercises]
    earned = sum(float(str(known.get(e.name, {}).get("score") or 0)) for _b, e in everything)
    total = sum(e.points for _b, e in everything)
    score = points(earned, total)
    for bundle, exercise in everything:
        if exercise.name not in passed and all(
            need in passed or need not in {e.name for _b, e in everything} for need in exercise.needs
        ):
            where = f"{bundle.assignment}/{bundle.module}"
            return Text(
                _(
                    "{score} points.\nNext: {name} in {where}.py or .ipynb. Then run `grader check {name}`."
                ).format(score=score, name=exercise.name, where=where)
            )
    return Text(_("{score} points. All exercises passed.").format(score=score))

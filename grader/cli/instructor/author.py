"""Commands for authors of the course: `grader new`, `build` and `verify`."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.shared_options import course_option
from grader.intake.course import solutions_of
from grader.support.i18n import _

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from grader.authoring.verify import Row


NEW_EXAMPLES = """\b
Examples:
  grader new 12_normalising centred         a function, in an assignment of its own
  grader new 07_encoder GatedFeedForward    a class, at the end of an assignment that is there
"""


@click.command(epilog=NEW_EXAMPLES)
@click.argument("assignment")
@click.argument("exercise")
@course_option
def new(assignment: str, exercise: str, course: Path | None) -> None:
    """Add a small exercise that passes `grader verify` to solutions/, as a start for yours.

    ASSIGNMENT is a folder's name, a number and words: 12_normalising. EXERCISE is the name of the function,
    or of the class if it begins with a capital letter.
    """
    from grader.authoring.scaffold import scaffold

    changed = scaffold(solutions_of(course), assignment, exercise)
    for path in changed:
        click.echo(path)
    click.echo(
        _("next: grader verify {assignment}, then change one file at a time and verify again").format(
            assignment=assignment
        )
    )


@click.command()
@click.argument("names", nargs=-1, metavar="[ASSIGNMENT]...")
@click.option("--check", "only_check", is_flag=True, help=_("Write nothing; exit 1 if anything differs."))
@course_option
def build(names: tuple[str, ...], only_check: bool, course: Path | None) -> None:
    """Make the students' text, stubs, notebooks and public bundles from solutions/.

    Record a case again only if something that it depends on has changed.
    """
    from grader.authoring.build import build, stale
    from grader.student.status_line import status_line

    solutions = solutions_of(course)
    assignments = solutions.parent / "assignments"
    with status_line(quiet=False) as status:
        work = stale if only_check else build
        found = [str(one) for one in work(solutions, assignments, names, status.recorded)]
    if not only_check:
        click.echo("\n".join(found) if found else _("nothing changed"))
        return
    click.echo("\n".join(found) if found else _("assignments/ is up to date with solutions/"))
    sys.exit(1 if found else 0)


LEGEND = """caught, named: known mistakes; right: variants that pass; trivial: refused
device: mistakes that fail there alone, with their line; advice: policies that pass, and are named"""


VERIFY_EXAMPLES = """\b
Examples:
  grader verify                       the whole course
  grader verify 02_masking 05         two assignments
  grader verify --device cuda         right answers on a GPU too

\b
Exit status: 0 no problems, 1 problems were found, 2 wrong use, 3 the grader failed.
"""


@click.command(epilog=VERIFY_EXAMPLES)
@click.argument("names", nargs=-1)
@click.option("--seed", default="public", help=_("Draw the cases from another seed."))
@click.option(
    "--device",
    type=click.Choice(["cpu", "sim", "cuda"]),
    default="sim",
    help=_("The other device on which right answers must pass too; cpu: none."),
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    default=os.cpu_count() or 1,
    show_default=_("as many as there are processors"),
    help=_("How many exercises at a time."),
)
@course_option
def verify(names: tuple[str, ...], seed: str, device: str, jobs: int, course: Path | None) -> None:
    """Check the course itself: solutions pass, stubs are not started, mistakes are caught and named, variants pass.

    NAMES: assignments or exercises; all if there are none.
    """
    from rich.console import Console

    from grader.authoring.verify import verify
    from grader.engine.devices import extra_devices
    from grader.student.status_line import status_line

    solutions = solutions_of(course)
    started = time.monotonic()
    other = extra_devices(device) if device != "cpu" else ()
    with status_line(quiet=False) as report:
        device = "".join(other)  # one name, or "" for "cpu"
        rows = list(verify(solutions, device=device, jobs=jobs, seed=seed, only=names, report=report))
    console = Console(highlight=False)
    console.print(_table(rows, bool(other)))
    console.print(_(LEGEND))
    console.print(_("checks per facet:"))
    for row in rows:
        facets = ", ".join(f"{facet} {n}" for facet, n in row.facets.items())
        console.print(f"  {row.exercise}: {facets}", markup=False)
    problems = [f"{row.exercise}: {problem}" for row in rows for problem in row.problems]
    for problem in problems:
        console.print(problem, markup=False)
    console.print(
        _("{n} problems, {seconds:.1f} s").format(n=len(problems), seconds=time.monotonic() - started)
    )
    sys.exit(1 if problems else 0)


def _table(rows: Sequence[Row], with_device: bool) -> Table:
    """Return a table with one row per exercise. `with_device`: whether another device was tried."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("")
    table.add_column(_("exercise"), no_wrap=True)
    for title in (
        _("checks"), _("caught"), _("named"), _("right"), _("trivial"), _("device"), _("advice"),
    ):  # fmt: skip
        table.add_column(title, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            "✗" if row.problems else "✓",
            f"{row.assignment[:2]} {row.exercise}",
            str(sum(row.facets.values())),
            *(_of(row, column, True) for column in ("caught", "named", "right", "trivial")),
            _of(row, "device", with_device),
            _of(row, "advice", row.known["advice"] > 0),
        )
    return table


def _of(row: Row, column: str, tried: bool) -> str:
    return f"{row.met[column]}/{row.known[column]}" if tried else "–"

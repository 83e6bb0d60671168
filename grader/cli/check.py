"""`grader check`: grade exercises with public or hidden cases, and show the report."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.cli.shared_options import FILE, course_option, sandbox_option
from grader.report.formats import FORMATS, written
from grader.support.files import write_atomically
from grader.support.i18n import _

if TYPE_CHECKING:
    from grader.report.model import Report

EXAMPLES = _("""\b
Examples:
  grader check                          all exercises of this course folder
  grader check MultiHeadAttention       one exercise, with details
  grader check 05_multi_head_attention  one assignment
  grader check --file notes.ipynb       the exercises that a file defines
  grader check train --quick            skip long training
  grader check --format json --output report.json
  grader check --format github          annotations and a table in a workflow

\b
Exit status:
  0  all exercises passed
  1  an exercise failed, is blocked, is not started (but not with --format github), or takes arguments that are
     not those of the course
  2  wrong use
  3  an exercise could not be graded, for example because of an error in the grader
""")


@click.command(
    help=_("Grade your exercises, all or those named, and show what is wrong and where."), epilog=EXAMPLES
)
@click.argument("exercises", nargs=-1)
@click.option(
    "--file", "file", type=click.Path(path_type=Path), help=_("Grade this .py, .ipynb, .md or .txt file.")
)
@course_option
@click.option("--hidden", is_flag=True, help=_("Use hidden cases (needs solutions/)."))
@click.option(
    "--format", "form", type=click.Choice(list(FORMATS)), default="text", help=_("Format of the report.")
)
@click.option("--output", type=FILE, help=_("Write the report to a file."))
@sandbox_option
@click.option(
    "--device",
    type=click.Choice(["auto", "cpu", "sim", "cuda"]),
    default="cpu",
    help=_(
        "Check on another device too: sim (simulated, needs no GPU), cuda, or auto (sim, and cuda if available)."
    ),
)
@click.option("--quick", is_flag=True, help=_("Skip the longest training."))
@click.option(
    "--no-line",
    "lines",
    is_flag=True,
    flag_value=False,
    default=True,
    help=_("Do not search for the line to look at."),
)
@click.option("--full", is_flag=True, help=_("Show every check, and details of every exercise."))
@click.option(
    "--words", is_flag=True, help=_("Write sentences instead of symbols and pictures, for a screen reader.")
)
def check(
    exercises: tuple[str, ...],
    form: str,
    output: Path | None,
    full: bool,
    words: bool,
    **how: Any,
) -> None:
    from grader.sandbox.choose import choose

    shown = form == "text" and output is None
    with closing(choose(how["sandbox"])) as launcher:
        # Now another process imports torch. This one imports the rest meanwhile.
        from grader.student.check import check

        show = _screens(bool(exercises), full, words) if shown else None
        report = check(exercises, launcher, **how, quiet=not shown, show=show)
    if output is not None:
        write_atomically(output, written(form, report).encode("utf-8"))
    elif not shown:
        click.echo(written(form, report))
    if form == "github":
        from grader.report import ci

        ci.add_to_summary(report)
        sys.exit(ci.exit_status(report))
    sys.exit(report.exit_status)


def _screens(every: bool, full: bool, words: bool) -> Callable[[Report, Callable[[], Report]], Report]:
    """Return a function that shows the verdict at once, and the rest after the search for the lines to look at.

    every: whether to show details of each exercise, else only of the first to fix.
    """
    from rich.console import Console

    from grader.report import terminal

    console = Console(highlight=False)
    screen = partial(terminal.halves, console=console, every=every, full=full, words=words)

    def show(report: Report, with_lines: Callable[[], Report]) -> Report:
        console.print(screen(report)[0])
        found = with_lines()
        console.print(screen(found)[1])
        return found

    return show

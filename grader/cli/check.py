"""`grader check`: grade exercises with public (or hidden) cases and show the report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.options import course_option, sandbox_option
from grader.report.formats import FORMATS
from grader.support.i18n import _

if TYPE_CHECKING:
    from grader.report.model import Report

EXAMPLES = """\b
Examples:
  grader check                          everything in this course folder
  grader check MultiHeadAttention       one exercise, shown in full
  grader check 05_multi_head_attention  one assignment
  grader check --file notes.ipynb       whatever known exercises a file defines
  grader check train --quick            without the training that takes longer
  grader check --format json --output report.json
  grader check --format github          in a workflow: annotations, and a table in its summary

\b
Exit status: 0 all passed, 1 otherwise, 2 wrong use, 3 something could not be graded.
"""


@click.command(epilog=EXAMPLES)
@click.argument("exercises", nargs=-1)
@click.option("--file", "file", type=click.Path(path_type=Path), help=_("Grade this .py or .ipynb file."))
@course_option
@click.option("--hidden", is_flag=True, help=_("Use hidden cases (needs solutions/)."))
@click.option(
    "--format", "form", type=click.Choice(list(FORMATS)), default="text", help=_("How to show the report.")
)
@click.option(
    "--output", type=click.Path(path_type=Path, dir_okay=False), help=_("Write the report to a file.")
)
@sandbox_option
@click.option(
    "--device",
    type=click.Choice(["auto", "cpu", "sim", "cuda"]),
    default="cpu",
    help=_(
        "Check on another device too: sim (simulated, needs no GPU), cuda, or auto: sim, and cuda if there is one."
    ),
)
@click.option("--quick", is_flag=True, help=_("Leave out trainings that take more than a few seconds."))
@click.option("--full", is_flag=True, help=_("Show every exercise that needs work in full."))
def command(
    exercises: tuple[str, ...],
    file: Path | None,
    course: Path | None,
    hidden: bool,
    form: str,
    output: Path | None,
    sandbox: str,
    device: str,
    quick: bool,
    full: bool,
) -> None:
    """Grade your exercises, all or those named, and say what is wrong and where."""
    from grader.student.check import check

    report = check(
        exercises,
        file=file,
        course=course,
        hidden=hidden,
        sandbox=sandbox,
        device=device,
        quiet=form != "text" or output is not None,
        quick=quick,
    )
    if form == "text" and output is None:
        _print(report, every=bool(exercises), full=full)
    else:
        _write(report, form, output)
    sys.exit(report.exit_status)


def _print(report: Report, *, every: bool, full: bool) -> None:
    from rich.console import Console

    from grader.report.terminal import show

    show(report, Console(highlight=False), every=every, full=full)


def _write(report: Report, form: str, output: Path | None) -> None:
    """Write the report to a file, or to the standard output."""
    text = FORMATS[form](report)
    if form == "github":
        from grader.report.github import add_to_summary

        add_to_summary(report)
    if output is None:
        click.echo(text)
    else:
        from grader.support.atomic_files import write_atomically

        write_atomically(output, text.encode("utf-8"))

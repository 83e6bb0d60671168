"""`grader grade` and `grader regrade`: grade a folder of submissions with hidden cases, in several processes."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.classroom.formats import FORMATS, written
from grader.cli.instructor.cluster import certificate_option
from grader.cli.shared_options import (
    FILE,
    FOLDER,
    course_option,
    jobs_option,
    only_option,
    sandbox_option,
    trusted_option,
)
from grader.intake.course import KEEP
from grader.support.i18n import _

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.classroom.class_run import GradedSubmission
    from grader.intake.course import CourseFile
import io

from grader.report.shared_sentences import plain_number
from grader.support.i18n import ngettext

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.classroom.regrade import Change

EXAMPLES = """\b
Examples:
  grader grade submissions                       files, one folder per student, archives, an nbgrader tree
  grader grade submitted --only masked_softmax   one exercise (or assignment); may be repeated
  grader grade submissions --format csv --output marks.csv
  grader grade submissions --format html --output class.html
  grader grade submissions --students students.csv   also lists who submitted nothing; shows sections
  grader grade submissions --keep best           of two submissions of an exercise the better one counts
  grader grade submissions --format jsonl | jq .score
  grader grade submissions --cluster tls://host:8786 --certificate cluster.pem
                                                 on the machines of `grader cluster`

\b
Results are stored in your cache folder (or in --store). Run the command again, also after a kill: it grades only
what is new. A stored result counts only for the same content, cases, grader and sandbox.

\b
Exit status: 0 all passed, 1 otherwise, 2 wrong use, 3 something could not be graded.
"""


@click.command(epilog=EXAMPLES)
@click.argument("submissions", type=click.Path(path_type=Path))
@only_option
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help=_("Grade on the workers of this scheduler (see grader cluster), or on local:N workers."),
)
@certificate_option
@jobs_option
@click.option("--store", type=FILE, help=_("Store results in this file instead of your cache folder."))
@click.option("--output", type=FILE, help=_("Write the results to a file."))
@click.option(
    "--format", "form", type=click.Choice(list(FORMATS)), default="text", help=_("Format of the results.")
)
@click.option("--pages", type=FOLDER, help=_("Write one HTML page per submission into this folder."))
@click.option(
    "--students",
    type=FILE,
    help=_("The class list, CSV with a column id; also first_name, last_name, email, section."),
)
@click.option(
    "--keep",
    type=click.Choice(KEEP),
    help=_("Which of two submissions of an exercise counts; default: as in headway.toml, else newest."),
)
@click.option("--pseudonyms", is_flag=True, help=_("Replace names of students, for a report that you share."))
@click.option(
    "--lines",
    is_flag=True,
    help=_(
        "Search for lines to look at, with public cases; up to 2 s per submission. The JSON formats show them."
    ),
)
@course_option
@sandbox_option
@trusted_option
def grade(
    submissions: Path, output: Path | None, form: str, pages: Path | None, pseudonyms: bool, **options: Any
) -> None:
    """Grade a folder of SUBMISSIONS with hidden cases and summarise the class."""
    from grader.classroom.class_run import exit_status
    from grader.classroom.grade_folder import GradeOptions, grade_folder
    from grader.intake.course import find

    graded = grade_folder(submissions, GradeOptions(**options), partial(click.echo, err=True))
    if pseudonyms:
        from grader.authoring.hidden_cases import derived_key
        from grader.classroom.pseudonyms import PURPOSE, pseudonymous

        graded = pseudonymous(graded, derived_key(PURPOSE))
    if pages is not None:
        from grader.classroom.pages import write_pages

        write_pages(pages, graded)
    _write(graded, form, output, find(options["course"]).settings)
    sys.exit(exit_status(graded))


def _write(graded: Sequence[GradedSubmission], form: str, output: Path | None, settings: CourseFile) -> None:
    from rich.console import Console

    from grader.classroom.terminal import show
    from grader.support.files import write_atomically

    if output is not None:
        write_atomically(output, written(form, graded, settings).encode("utf-8", "backslashreplace"), 0o600)
    elif form == "text":
        show(graded, Console(highlight=False))
    else:
        click.echo(written(form, graded, settings), nl=False)


FILE_WIDTH = 160  # columns of the table in a file or a pipe

REGRADE_EXAMPLES = """\b
Examples:
  grader regrade submissions                     after a change of the course: who changes, by how much, why
  grader regrade submissions --never-lower       no student gets fewer points than before
  grader regrade submissions --never-lower --write   publish it
  grader regrade submissions --store old.sqlite  compare with another store, for example of another version
  grader regrade submissions --format csv --output changes.csv   with a sentence per student

\b
Without --write, no result that `grader grade` or nbgrader reads is changed. With it, the next `grader grade` and
`nbgrader autograde` use the new results, and each student reads why the points changed.

\b
Exit status: 0 nothing changes, 1 something changes, 2 wrong use, 3 something could not be graded.
"""


@click.command(epilog=REGRADE_EXAMPLES)
@click.argument("submissions", type=click.Path(path_type=Path))
@only_option
@click.option(
    "--store",
    type=FILE,
    help=_("Compare with the results in this file instead of those in your cache folder. It is not changed."),
)
@click.option("--never-lower", is_flag=True, help=_("Keep the points of students who would get fewer."))
@click.option("--write", is_flag=True, help=_("Publish the new results to `grader grade` and nbgrader."))
@jobs_option
@click.option(
    "--format", "form", type=click.Choice(["text", "csv"]), default="text", help=_("Format of the table.")
)
@click.option("--output", type=FILE, help=_("Write the table to a file."))
@course_option
@sandbox_option
@trusted_option
def regrade(
    submissions: Path, never_lower: bool, write: bool, form: str, output: Path | None, **options: Any
) -> None:
    """Grade SUBMISSIONS again and show whose points change, by how much and why."""
    from grader.classroom.grade_folder import GradeOptions, classroom
    from grader.classroom.regrade import publish, regrade
    from grader.support.files import write_atomically

    asked = GradeOptions(**options)
    room = classroom(asked)
    compared, failed = regrade(submissions, room, asked, never_lower)
    changes = [change for change in compared if change.differs]
    for_terminal = output is None and sys.stdout.isatty()
    table = _csv(changes) if form == "csv" else _text(changes, None if for_terminal else FILE_WIDTH)
    if output is not None:
        write_atomically(output, table.encode("utf-8", "backslashreplace"), 0o600)
    else:
        click.echo(table, nl=False)
    click.echo(_summary(compared), err=True)
    if write:
        click.echo(_("published in {store}").format(store=publish(submissions, room, compared)), err=True)
        if never_lower:
            says = _(
                "after every later change of the course or the grader, run `grader regrade --never-lower --write` again, before `nbgrader autograde`: a plain run gives the lower points"
            )
            click.echo(says, err=True)
    else:
        click.echo(_("nothing was published; --write does that"), err=True)
    sys.exit(3 if failed else 1 if changes else 0)


def _summary(compared: Sequence[Change]) -> str:
    known = sum(change.old is not None for change in compared)
    says = _(
        "{compared}: {more} get more points, {less} fewer, {kept} keep theirs; {unknown} have no earlier result"
    )
    return says.format(
        compared=ngettext("{n} result compared", "{n} results compared", known).format(n=known),
        more=sum(change.difference > 0 for change in compared),
        less=sum(change.difference < 0 for change in compared),
        kept=sum(change.score != change.new.score for change in compared),
        unknown=len(compared) - known,
    )


def _text(changes: Sequence[Change], width: int | None) -> str:
    """Return the table. width: its columns; None: those of the terminal."""
    from rich.console import Console
    from rich.table import Table

    if not changes:
        return ""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in (_("student"), _("exercise")):
        table.add_column(name, overflow="fold")
    for name in (_("before"), _("now"), _("change")):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column(_("why"), overflow="fold")
    for change in changes:
        difference = f"{round(change.difference, 2):+g}"
        table.add_row(change.student, change.new.name, *_scores(change), difference, change.why)
    out = io.StringIO()
    console = Console(file=out, width=width, no_color=True, highlight=False, markup=False)
    console.print(table, markup=False)
    return out.getvalue()


def _csv(changes: Sequence[Change]) -> str:
    from grader.classroom.formats import csv_text

    rows = [["student", "submission", "exercise", "before", "now", "change", "why", "sentence"]]
    for change in changes:
        who = [change.student, change.submission, change.new.name]
        numbers = [*_scores(change), plain_number(change.difference)]
        rows.append([*who, *numbers, change.why, change.sentence])
    return csv_text(rows)


def _scores(change: Change) -> list[str]:
    """Return the points before and now; "" for none."""
    scores = (change.old.score if change.old else None, change.score)
    return ["" if score is None else plain_number(score) for score in scores]

"""`grader grade`: a folder of submissions, hidden cases, several at once, and nothing lost when it is killed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.options import course_option, sandbox_option
from grader.support.i18n import _

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.classroom.class_run import GradedSubmission

EXAMPLES = """\b
Examples:
  grader grade submissions                       files, a folder a student, archives, an nbgrader tree
  grader grade submitted --only masked_softmax   one exercise (or assignment); may be repeated
  grader grade submitted --since 2d              what was changed in the last two days
  grader grade submissions --format csv --output marks.csv
  grader grade submissions --format html --output class.html
  grader grade submissions --format jsonl | jq .score

\b
Results are stored in your cache folder (or in --store). Run the command again, also after a kill: it grades only
what is new. A stored result counts only for the same content, cases, grader and sandbox.

\b
Exit status: 0 all passed, 1 otherwise, 2 wrong use, 3 something could not be graded.
"""


@click.command(epilog=EXAMPLES)
@click.argument("submissions", type=click.Path(path_type=Path))
@click.option(
    "--only", multiple=True, metavar="EXERCISE", help=_("Grade this exercise or assignment; may be repeated.")
)
@click.option(
    "--since",
    metavar="WHEN",
    help=_("Only files changed since: 2026-03-01, 2026-03-01T18:00, or 30m, 12h, 2d ago."),
)
@click.option("--regrade", is_flag=True, help=_("Grade afresh what is known already."))
@click.option("--jobs", type=click.IntRange(1, 256), help=_("Processes side by side; default: one a core."))
@click.option(
    "--store",
    type=click.Path(path_type=Path, dir_okay=False),
    help=_("Store results in this file instead of your cache folder."),
)
@click.option(
    "--output", type=click.Path(path_type=Path, dir_okay=False), help=_("Write the results to a file.")
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "html", "jsonl", "csv", "gradescope", "junit"]),
    default="text",
    help=_("How to show the results."),
)
@course_option
@sandbox_option
@click.option(
    "--trusted-submissions",
    is_flag=True,
    help=_("Allow the basic sandbox, which stops no determined attacker."),
)
def command(
    submissions: Path,
    only: tuple[str, ...],
    since: str | None,
    regrade: bool,
    jobs: int | None,
    store: Path | None,
    output: Path | None,
    form: str,
    course: Path | None,
    sandbox: str,
    trusted_submissions: bool,
) -> None:
    """Grade a folder of SUBMISSIONS with hidden cases, and sum up how the class did."""
    from grader.classroom.class_run import exit_status
    from grader.classroom.grade_folder import GradeOptions, grade_folder, ignored_store

    options = GradeOptions(
        only=only,
        since=since,
        regrade=regrade,
        jobs=jobs,
        store=store,
        course=course,
        sandbox=sandbox,
        trusted=trusted_submissions,
    )
    entries = grade_folder(submissions, options)
    if old := ignored_store(submissions):
        click.echo(
            _("{path} is ignored: results are now stored in your cache folder.").format(path=old), err=True
        )
    _write(entries, form, output)
    sys.exit(exit_status(entries))


def _write(entries: Sequence[GradedSubmission], form: str, output: Path | None) -> None:
    from grader.classroom.formats import FORMS, NotInThisForm
    from grader.support.atomic_files import write_atomically

    if form == "text":
        return _show(entries, output)
    try:
        text = FORMS[form](entries)
    except NotInThisForm as refused:
        raise click.UsageError(str(refused)) from None
    if output is None:
        click.echo(text, nl=False)
    else:
        write_atomically(output, text.encode("utf-8", "backslashreplace"), 0o600)
    return None


def _show(entries: Sequence[GradedSubmission], output: Path | None) -> None:
    from io import StringIO

    from rich.console import Console

    from grader.classroom.terminal import show
    from grader.support.atomic_files import write_atomically

    if output is None:
        show(entries, Console(highlight=False))
        return
    plain = StringIO()
    show(entries, Console(file=plain, width=110, no_color=True, highlight=False))
    write_atomically(output, plain.getvalue().encode(), 0o600)

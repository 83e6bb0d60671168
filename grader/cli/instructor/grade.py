"""`grader grade`: grade a folder of submissions with hidden cases, in several processes."""

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
from grader.intake.course_file import KEEP
from grader.support.i18n import _

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.classroom.class_run import GradedSubmission
    from grader.intake.course_file import CourseFile

EXAMPLES = """\b
Examples:
  grader grade submissions                       files, one folder per student, archives, an nbgrader tree
  grader grade submitted --only masked_softmax   one exercise (or assignment); may be repeated
  grader grade submitted --since 2d              files changed in the last two days
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
    "--since",
    metavar="WHEN",
    help=_("Grade only files changed since: 2026-03-01, 2026-03-01T18:00, or 30m, 12h, 2d ago."),
)
@click.option("--regrade", is_flag=True, help=_("Grade all files again, also those with stored results."))
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

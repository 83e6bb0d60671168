"""`grader grade`: grade a folder of submissions with hidden cases; `grader cluster`: on several machines."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.classroom.formats import FORMATS, written
from grader.cli.shared_options import (
    FILE,
    FOLDER,
    course_option,
    jobs_option,
    only_option,
    sandbox_option,
    trusted_option,
)
from grader.intake.course import KEEP, find
from grader.support.i18n import _

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.classroom.class_run import GradedSubmission
    from grader.intake.course import CourseFile

_certificate = partial(
    click.option,
    "--certificate",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help=_("File that `grader cluster certificate` made."),
)

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
@_certificate()
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


# ---- cluster

CLUSTER_EXAMPLES = """\b
Examples:
  grader cluster certificate cluster.pem               then copy it to every machine, by a safe way
  grader cluster scheduler --certificate cluster.pem   on one machine, such as host
  grader cluster worker tls://host:8786 --certificate cluster.pem -- --nworkers 8
  grader grade submissions --cluster tls://host:8786 --certificate cluster.pem

\b
Scheduler and workers are those of Dask. Options after -- go to them. Use one worker per core.
"""

_dask = click.argument("dask", nargs=-1, type=click.UNPROCESSED, metavar="[-- OPTIONS OF DASK]")


@click.group(epilog=CLUSTER_EXAMPLES)
def cluster() -> None:
    """Set up machines that grade together."""


@cluster.command()
@click.argument("file", type=FILE)
def certificate(file: Path) -> None:
    """Write the certificate of a cluster with its key, valid for a year. Keep it secret."""
    from grader.classroom.cluster_connection import write_certificate

    write_certificate(file)


@cluster.command()
@_certificate(required=True)
@_dask
def scheduler(certificate: Path, dask: tuple[str, ...]) -> None:
    """Run a scheduler on port 8786 until it is stopped."""
    _run("scheduler", certificate, "--host", "tls://:8786", *dask)


@cluster.command()
@click.argument("address")
@_certificate(required=True)
@_dask
def worker(address: str, certificate: Path, dask: tuple[str, ...]) -> None:
    """Run a worker for the scheduler at ADDRESS until it is stopped; with -- --nworkers 8, eight."""
    from grader.classroom.cluster_connection import connect

    with ExitStack() as opened:  # reports an error in one sentence, unlike Dask's command
        connect(address, certificate, opened).close()
    _run("worker", certificate, address, "--nthreads=1", "--memory-limit=0", *dask)


def _run(role: str, file: Path, *arguments: str) -> None:
    from grader.classroom.cluster_connection import DASK

    tls = (f"--tls-ca-file={file}", f"--tls-cert={file}", f"--tls-key={file}")
    command = [sys.executable, "-m", f"distributed.cli.dask_{role}", "--no-dashboard", *tls, *arguments]
    variables = {**os.environ, **DASK}
    if os.name == "posix":
        os.execve(command[0], command, variables)
    sys.exit(subprocess.run(command, env=variables).returncode)

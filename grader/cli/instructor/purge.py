"""`grader purge`: remove what the grader stored about one student."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from grader.cli.shared_options import FILE, FOLDER, course_option
from grader.support.i18n import _

EXAMPLES = """\b
Examples:
  grader purge ada submissions                   show what is stored about ada, ask, and remove it
  grader purge ada ~/attention-2027/submitted --yes
  grader purge ada submissions --pages pages     also the pages of `grader grade --pages pages`

\b
It removes results from the stores in your cache folder (and --store), pages, and files that the grader moved out
of the way of nbgrader, which cannot copy them. Submissions and nbgrader's own files stay; they are listed with
what to type. Results of files that no student has any more are removed too. PRIVACY.md says what is stored where.

\b
Exit status: 0 done, 2 wrong use, or nothing is stored.
"""


@click.command(epilog=EXAMPLES)
@click.argument("student")
@click.argument("submissions", type=click.Path(path_type=Path))
@click.option(
    "--store",
    type=FILE,
    help=_("The store, if it is not in your cache folder."),
)
@click.option(
    "--pages",
    type=FOLDER,
    help=_("The folder of `grader grade --pages`."),
)
@click.option("--yes", is_flag=True, help=_("Do not ask."))
@course_option
def purge(
    student: str, submissions: Path, store: Path | None, pages: Path | None, yes: bool, course: Path | None
) -> None:
    """Remove what the grader stored about STUDENT, whose files are in SUBMISSIONS."""
    from grader.classroom.purge import find_stored, remove
    from grader.intake.course import find
    from grader.support.errors import UsageError

    found = find_stored(student, submissions, find(course).bundles, store, pages)
    for path, contents in found.stores.items():
        click.echo(_("{path}: results of {n} files").format(path=path, n=len(contents)))
    for path in found.paths:
        click.echo(str(path))
    if found:
        if not yes:
            click.confirm(_("remove this?"), abort=True)
        remove(found)
        click.echo(_("removed"))
    if found.theirs:
        click.echo(_("not removed, since it is not the grader's:"))
    for path in found.theirs:
        click.echo(f"  rm -r {shlex.quote(str(path))}")
    if (submissions.resolve().parent / "gradebook.db").is_file():
        click.echo(f"  nbgrader db student remove {shlex.quote(student)} --force")
    if not found:
        raise UsageError(_("nothing is stored about {student}").format(student=student))

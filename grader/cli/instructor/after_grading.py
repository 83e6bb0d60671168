"""Commands for a class that was graded: `grader regrade`, `adopt`, `comment` and `purge`."""

from __future__ import annotations

import io
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.cli.shared_options import (
    FILE,
    FOLDER,
    course_option,
    jobs_option,
    only_option,
    sandbox_option,
    trusted_option,
)
from grader.intake.course import find
from grader.report.shared_sentences import plain_number
from grader.support.i18n import _, ngettext

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.classroom.regrade import Change

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


ADOPT_EXAMPLES = """\b
Examples:
  grader adopt masked_softmax:0123456789abcdef --id scaled-twice \\
      --says "the scores are divided by the square root of d twice" \\
      --asks "How often does your code divide the scores?"
  grader adopt masked_softmax:0123456789abcdef --remove

\b
Copy the group from `grader grade`. The name is written to groups.toml beside solutions/: no code, no names of students.
First the reference and its variants are graded: if one does not pass, the group is refused.

\b
Exit status: 0 done, 2 refused; then groups.toml is as before.
"""


@click.command(epilog=ADOPT_EXAMPLES)
@click.argument("group")
@click.option(
    "--says",
    default="",
    help=_("The mistake in these answers: one sentence without code. Required unless --remove."),
)
@click.option(
    "--asks",
    default="",
    help=_("A question that helps the student find the mistake. Required unless --remove."),
)
@click.option(
    "--id",
    "id",
    default="",
    help=_("The name in reports, lower-case words joined by dashes; default: made from --says."),
)
@click.option("--remove", is_flag=True, help=_("Remove the name of the group."))
@course_option
@sandbox_option
def adopt(group: str, says: str, asks: str, id: str, remove: bool, course: Path | None, sandbox: str) -> None:
    """Name GROUP in the course's own bank. GROUP is a group of equal wrong answers that has no name yet."""
    from grader.classroom.grade_folder import GradeOptions, classroom
    from grader.classroom.groups import adopt, exercise_of, forget, text_of

    found = find(course)
    if remove:
        click.echo(_("{file}: the name was removed").format(file=forget(found, group)))
        return
    exercise = exercise_of(group, found.bundles)
    says, asks = text_of(says, "--says"), text_of(asks, "--asks")
    id = id or "-".join(re.findall(r"[a-z0-9]+", says.lower())[:6])
    # Only the course's own answers are run, so they are trusted.
    room = classroom(GradeOptions(only=[exercise], course=course, sandbox=sandbox, trusted=True))
    path, passed = adopt(room.solutions, room.bundles, room.key.sandbox, group, id, says, asks)
    said = _("{file}: {group} is called {id} from the next run on; {n} right answers pass and are not in it")
    click.echo(said.format(file=path, group=group, id=id, n=passed))


COMMENT_EXAMPLES = """\b
Examples:
  grader comment softmax-masked-too-late "Read section 2.3 again; we discuss it on Tuesday."
  grader comment masked_softmax:0123456789abcdef "Come to the exercise class."
  grader comment softmax-masked-too-late ""      remove it

\b
GROUP is a known mistake or a group without a name, as `grader grade` prints it. The comment is in every report of
these students: `grader grade --pages`, and after `nbgrader autograde` in nbgrader's feedback.

\b
Exit status: 0 done, 2 refused.
"""


@click.command(epilog=COMMENT_EXAMPLES)
@click.argument("group")
@click.argument("text")
@course_option
def comment(group: str, text: str, course: Path | None) -> None:
    """Write TEXT into the reports of all students of GROUP."""
    from grader.classroom.groups import comment, text_of

    path = comment(find(course), group, text_of(text, "TEXT") if text.strip() else "")
    click.echo(
        _("{file}: {group}: {text}").format(file=path, group=group, text=text.strip() or _("no comment"))
    )


PURGE_EXAMPLES = """\b
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


@click.command(epilog=PURGE_EXAMPLES)
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

"""`grader adopt` and `grader comment`: name a group of equal wrong answers, and say something to its students."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli.shared_options import course_option, sandbox_option
from grader.support.i18n import _

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
    import re

    from grader.classroom.adopt import adopt
    from grader.classroom.grade_folder import GradeOptions, classroom
    from grader.classroom.groups import exercise_of, forget, text_of
    from grader.intake.course import find

    found = find(course)
    if remove:
        click.echo(_("{file}: the name was removed").format(file=forget(found, group)))
        return
    exercise = exercise_of(group, found.bundles)
    says, asks = text_of(says, "--says"), text_of(asks, "--asks")
    id = id or "-".join(re.findall(r"[a-z0-9]+", says.lower())[:6])
    # Only the course's own answers are run, so they are trusted.
    room = classroom(GradeOptions(only=[exercise], course=course, sandbox=sandbox, trusted=True))
    path, passed = adopt(room, group, id, says, asks)
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
    from grader.intake.course import find

    path = comment(find(course), group, text_of(text, "TEXT") if text.strip() else "")
    click.echo(
        _("{file}: {group}: {text}").format(file=path, group=group, text=text.strip() or _("no comment"))
    )

"""`grader comment`: say something to all students of a group."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli.shared_options import course_option
from grader.support.i18n import _

EXAMPLES = """\b
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


@click.command(epilog=EXAMPLES)
@click.argument("group")
@click.argument("text")
@course_option
def command(group: str, text: str, course: Path | None) -> None:
    """Write TEXT into the reports of all students of GROUP."""
    from grader.classroom.groups import comment, text_of
    from grader.intake.course import find

    path = comment(find(course), group, text_of(text, "TEXT") if text.strip() else "")
    click.echo(
        _("{file}: {group}: {text}").format(file=path, group=group, text=text.strip() or _("no comment"))
    )

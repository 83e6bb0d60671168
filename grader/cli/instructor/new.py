"""`grader new`: begin an exercise."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli.shared_options import course_option
from grader.support.i18n import _

EXAMPLES = """\b
Examples:
  grader new 12_normalising centred         a function, in an assignment of its own
  grader new 07_encoder GatedFeedForward    a class, at the end of an assignment that is there
"""


@click.command(epilog=EXAMPLES)
@click.argument("assignment")
@click.argument("exercise")
@course_option
def command(assignment: str, exercise: str, course: Path | None) -> None:
    """Add a small exercise that passes `grader verify` to solutions/, as a start for yours.

    ASSIGNMENT is a folder's name, a number and words: 12_normalising. EXERCISE is the name of the function,
    or of the class if it begins with a capital letter.
    """
    from grader.authoring.scaffold import scaffold
    from grader.intake.course import solutions_of

    changed = scaffold(solutions_of(course), assignment, exercise)
    for path in changed:
        click.echo(path)
    click.echo(
        _("next: grader verify {assignment}, then change one file at a time and verify again").format(
            assignment=assignment
        )
    )

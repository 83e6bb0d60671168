"""`grader course`: make or update an nbgrader course that this grader grades."""

from __future__ import annotations

import os
import re
from pathlib import Path

import click

from grader.cli.shared_options import course_option, sandbox_option
from grader.support.i18n import _

EXAMPLES = """\b
Examples:
  grader course ~/attention-2027                  all assignments
  grader course ~/attention-2027 --only 02_masking --only 04
  cd ~/attention-2027 && nbgrader generate_assignment 02_masking

\b
Call it again whenever the course has changed: it generates the sources again and keeps grades and submissions.
"""


@click.command(epilog=EXAMPLES)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--only", multiple=True, metavar="ASSIGNMENT", help=_("This assignment; may be repeated."))
@click.option("--course-id", help=_("The course's name in nbgrader; default: the folder's name."))
@course_option
@sandbox_option
@click.option(
    "--question-points",
    type=click.FloatRange(min=0),
    default=0.0,
    help=_("Points for the questions of an assignment; you grade them by hand. Default: 0."),
)
def course(
    folder: Path,
    only: tuple[str, ...],
    course_id: str | None,
    course: Path | None,
    sandbox: str,
    question_points: float,
) -> None:
    """Make FOLDER an nbgrader course, or bring its sources up to date."""
    from grader.authoring.content import chosen, read_all
    from grader.authoring.hidden_cases import seed_file
    from grader.intake.course import Course, solutions_of
    from grader.nbgrader.course import LOADS, OWN_CONFIG, CourseOptions, lacks_our_config, make

    solutions = solutions_of(course)
    public = solutions.parent / "assignments"
    options = CourseOptions(
        course_id=course_id or re.sub(r"\W+", "-", folder.resolve().name) or "course",
        solutions=solutions,
        assignments=public,
        seed_file=seed_file(),
        sandbox=sandbox,
        points=Course(public).rules.points,
        question_points=question_points,
    )
    try:
        changed = make(folder, chosen(read_all(solutions), only), options)
    except OSError as error:
        says = _("{folder} cannot be written: {why}")
        raise click.UsageError(says.format(folder=folder, why=error.strerror)) from None
    except ModuleNotFoundError as missing:
        says = _("the package {name} is missing: python -m pip install {name}")
        raise click.UsageError(says.format(name=(missing.name or "").split(".")[0])) from None
    click.echo("\n".join(os.path.relpath(path) for path in changed) if changed else _("nothing changed"))
    if lacks_our_config(folder):
        says = _("{file} is yours and stays as it is; add this line to it: {line}")
        click.echo(says.format(file=folder / OWN_CONFIG, line=LOADS))

"""`grader build`: make assignments/ from solutions/."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from grader.cli.shared_options import course_option
from grader.support.i18n import _


@click.command()
@click.argument("names", nargs=-1, metavar="[ASSIGNMENT]...")
@click.option("--check", "only_check", is_flag=True, help=_("Write nothing; exit 1 if anything differs."))
@course_option
def command(names: tuple[str, ...], only_check: bool, course: Path | None) -> None:
    """Make the students' text, stubs, notebooks and public bundles from solutions/.

    Record a case again only if something that it depends on has changed.
    """
    from grader.authoring.build import build, stale
    from grader.intake.course import solutions_of
    from grader.student.status_line import status_line

    solutions = solutions_of(course)
    assignments = solutions.parent / "assignments"
    with status_line(quiet=False) as status:
        work = stale if only_check else build
        found = [str(one) for one in work(solutions, assignments, names, status.recorded)]
    if not only_check:
        click.echo("\n".join(found) if found else _("nothing changed"))
        return
    click.echo("\n".join(found) if found else _("assignments/ is up to date with solutions/"))
    sys.exit(1 if found else 0)

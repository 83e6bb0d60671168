"""`grader build`: make assignments/ from solutions/."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from grader.support.i18n import _


@click.command()
@click.option("--check", "only_check", is_flag=True, help=_("Write nothing; exit 1 if anything differs."))
def command(only_check: bool) -> None:
    """Make the students' text, stubs, notebooks and public bundles from solutions/."""
    from grader.authoring.build import build, stale

    solutions, assignments = Path("solutions"), Path("assignments")
    if not solutions.is_dir():
        raise click.UsageError(_("there is no folder solutions/ here"))
    if only_check:
        found = list(stale(solutions, assignments))
        click.echo("\n".join(found) if found else _("assignments/ is what solutions/ gives"))
        sys.exit(1 if found else 0)
    changed = build(solutions, assignments)
    click.echo("\n".join(map(str, changed)) if changed else _("nothing changed"))

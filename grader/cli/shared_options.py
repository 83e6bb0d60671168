"""Options that several commands share, and types of path arguments. `x_option` fills the parameter `x`."""

from __future__ import annotations

from pathlib import Path

import click

from grader.sandbox.base import AUTO, CHOICES
from grader.support.i18n import _

FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)

only_option = click.option(
    "--only", multiple=True, metavar="EXERCISE", help=_("Only this exercise or assignment; may be repeated.")
)
course_option = click.option(
    "--course", type=FOLDER, envvar="HEADWAY_COURSE", help=_("The course folder, if you are not in it.")
)
sandbox_option = click.option(
    "--sandbox", type=click.Choice(CHOICES), default=AUTO, help=_("Use this sandbox tier; see grader doctor.")
)
trusted_option = click.option(
    "--trusted-submissions",
    "trusted",
    is_flag=True,
    help=_("Allow the basic sandbox, which stops no determined attacker."),
)
jobs_option = click.option(
    "--jobs", type=click.IntRange(1, 256), help=_("Number of processes; default: one per core.")
)

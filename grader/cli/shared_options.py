"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from grader.sandbox.tiers import AUTO, CHOICES
from grader.support.i18n import _

Command = TypeVar("Command", bound=Callable[..., Any])


def course_option(command: Command) -> Command:
    """Add `--course FOLDER`, passed as `course: Path | None`."""
    option = click.option(
        "--course",
        type=click.Path(path_type=Path, file_okay=False),
        help=_("The course folder, if you are not in it."),
    )
    return option(command)


def sandbox_option(command: Command) -> Command:
    """Add `--sandbox TIER`, passed as `sandbox: str`; the choices come from the table of tiers."""
    option = click.option(
        "--sandbox",
        type=click.Choice(CHOICES),
        default=AUTO,
        help=_("Use this sandbox tier; see grader doctor."),
    )
    return option(command)

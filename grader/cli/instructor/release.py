"""`grader release`: make the students' kit, and check that it holds no answers except building blocks."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from grader.cli.shared_options import course_option
from grader.support.i18n import _

PLATFORMS = ("linux", "linux-arm", "macos", "windows")
ABOUT = """\b
A kit holds the assignments up to --through (all without it), the grader as a wheel without the
instructor's commands, and those building blocks of `grader.given` that the assignments allow.

\b
A building block may be the answer to an exercise of the same kit: assignment 03 builds on what 02 asks
for. While that exercise is graded its block is withheld, but a student who opens the wheel can read and copy it. The
blocks concerned are listed, and the report of a class marks copies. If that matters to you, release in stages:
--through 02 until its deadline, then --through 03 into a new folder, and so on.

\b
--wheelhouse downloads torch and all that the grader needs: about 150 MB for Windows and macOS, 3 GB for Linux,
where the default build of torch contains CUDA. For Linux without it, set UV_INDEX and PIP_EXTRA_INDEX_URL to
https://download.pytorch.org/whl/cpu. The files are not searched for answers.

\b
Exit status: 0 released, 1 the proof failed (nothing is left behind), 2 wrong use.
"""


@click.command(epilog=ABOUT)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--through", help=_("The last assignment to release, as 04 or by its name."))
@click.option(
    "--colab",
    default="",
    metavar="URL",
    help=_("Add notebooks for Colab that fetch the kit from this git repository."),
)
@click.option(
    "--wheelhouse",
    multiple=True,
    type=click.Choice(PLATFORMS),
    help=_("Add the wheels for a platform, to install without a connection. May be repeated."),
)
@click.option(
    "--python-version",
    default=".".join(map(str, sys.version_info[:2])),
    show_default=True,
    help=_("The version of Python for which --wheelhouse downloads."),
)
@click.option(
    "--second-ways",
    is_flag=True,
    help=_("Write only a page of other right answers, to a new file FOLDER; for after the deadline."),
)
@course_option
def release(
    folder: Path,
    through: str | None,
    colab: str,
    wheelhouse: tuple[str, ...],
    python_version: str,
    second_ways: bool,
    course: Path | None,
) -> None:
    """Fill an empty FOLDER with a ready repository for a class, and prove that it holds no answer."""
    from grader.intake.course import solutions_of
    from grader.release.kit import Unproved
    from grader.release.make import release

    solutions = solutions_of(course)
    if second_ways:
        from grader.release.make import write_alternative_solutions

        if folder.exists():
            raise click.UsageError(_("{path} is already there; name a new file").format(path=folder))
        count = write_alternative_solutions(solutions, folder)
        click.echo(_("{path}: {n} right answers").format(path=folder, n=count))
        return
    try:
        plan, claims = release(
            folder,
            solutions=solutions,
            assignments=solutions.parent / "assignments",
            template=solutions.parent / "student_template",
            through=through,
            colab=colab,
            wheelhouse=wheelhouse,
            python=python_version,
            tell=lambda step: click.echo(step, err=True),
        )
    except Unproved as unproved:
        click.echo(f"grader: {_('not released')}: {unproved}", err=True)
        sys.exit(1)
    names = ", ".join(b.assignment for b in plan.bundles)
    click.echo(_("{folder}: assignments {names}").format(folder=folder, names=names))
    click.echo(_("proved:"))
    for claim in claims:
        click.echo(f"  ✓ {claim}")
    if plan.answers:
        says = _(
            "these building blocks are answers to exercises of this kit, withheld while those are graded: {names}"
        )
        click.echo(says.format(names=", ".join(plan.answers)))

"""`grader start`, `grader release`, `grader course`: what students get, as a folder, a kit or an nbgrader course."""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path

import click

from grader.cli.shared_options import course_option, sandbox_option
from grader.intake.course import Course, solutions_of
from grader.support.i18n import _


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
def start(folder: Path) -> None:
    """Write the course into a new FOLDER: the lessons with their exercises, and the grader."""
    from grader.bundle.files import load_all
    from grader.intake.course import installed
    from grader.release.folder import fill, new_folder

    course = installed()
    bundles = load_all(course)
    with new_folder(folder) as work:
        fill(bundles, course, work, answers=True)
    command = (
        "uv run grader" if os.environ.get("UV") else "grader"
    )  # uv sets it for what it runs, also for uvx
    says = _("The course is in {folder}, {n} assignments. Now type:\n\n  cd {place}\n  {command}")
    named = {"folder": folder, "place": shlex.quote(str(folder))}
    click.echo(says.format(n=len(bundles), command=command, **named))


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
    "--answers",
    is_flag=True,
    help=_("Add the answers to the questions of the lessons, for `grader answer`."),
)
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
    answers: bool,
    colab: str,
    wheelhouse: tuple[str, ...],
    python_version: str,
    second_ways: bool,
    course: Path | None,
) -> None:
    """Fill an empty FOLDER with a ready repository for a class, and prove that it holds no answer."""
    from grader.release.make import release

    solutions = solutions_of(course)
    if second_ways:
        from grader.release.make import write_alternative_solutions

        if folder.exists():
            raise click.UsageError(_("{path} is already there; name a new file").format(path=folder))
        count = write_alternative_solutions(solutions, folder)
        click.echo(_("{path}: {n} right answers").format(path=folder, n=count))
        return
    plan, claims = release(
        folder,
        solutions=solutions,
        through=through,
        answers=answers,
        colab=colab,
        wheelhouse=wheelhouse,
        python=python_version,
        tell=lambda step: click.echo(step, err=True),
    )
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


COURSE_EXAMPLES = """\b
Examples:
  grader course ~/attention-2027                  all assignments
  grader course ~/attention-2027 --only 02_masking --only 04
  cd ~/attention-2027 && nbgrader generate_assignment 02_masking

\b
Call it again whenever the course has changed: it generates the sources again and keeps grades and submissions.
"""


@click.command(epilog=COURSE_EXAMPLES)
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

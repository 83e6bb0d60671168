"""`grader hint`: show one more hint per call."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from shutil import get_terminal_size
from typing import Any

import click

from grader.cli.shared_options import course_option
from grader.support.files import read_regular
from grader.support.i18n import _

FILE = ".headway/hints.json"


@click.command(
    help=_(
        "Show the next hint for an exercise: where to read, then what to look at, then the strategy in words."
        "\n\nIf the last check found a known mistake, the hints begin with a question about it."
    )
)
@click.argument("exercise")
@course_option
@click.option("--again", is_flag=True, help=_("Repeat the hints shown so far."))
def command(exercise: str, course: Path | None, again: bool) -> None:
    from grader.intake.course import find, one_exercise
    from grader.student import progress
    from grader.support.errors import CannotWrite
    from grader.support.files import make_folder, write_own

    where = find(course)
    found = one_exercise(exercise, where.bundles)
    exercise = found.name
    path = where.root / FILE
    counts = _read(path)
    shown = min(counts.get(exercise, 0) + (0 if again else 1), len(found.hints))
    for line in _about_the_mistake(progress.load(where.root).get(exercise, {}), found.level, shown):
        click.echo(_wrapped(line))
    for number, hint in enumerate(found.hints[:shown], 1):
        click.echo(_wrapped(f"{number}. {_(hint)}"))
    click.echo(
        _("Hint {shown} of {all}. Ask again for the next one.").format(shown=shown, all=len(found.hints))
        if shown < len(found.hints)
        else _("This was the last hint.")
    )
    try:
        make_folder(path.parent)
        write_own(path, json.dumps({**counts, exercise: shown}, sort_keys=True).encode())
    except CannotWrite as why:
        click.echo(_("The next call shows the same hint again: {why}.").format(why=why), err=True)


def _wrapped(text: str) -> str:
    """Return the text in lines that fit the terminal, broken between words."""
    return click.wrap_text(text, width=get_terminal_size().columns)


def _about_the_mistake(last: Mapping[str, Any], level: int, shown: int) -> Iterator[str]:
    """Yield a question about the last wrong answer and, from the second hint on, where to read on.

    level: what the course allows (2: the question, 3: also the page). shown: how many hints are shown.
    """
    asks, page = str(last.get("asks", "")), str(last.get("page", ""))
    if last.get("outcome") != "failed":
        return
    if asks and level >= 2:
        yield _("About your last answer: {question}").format(question=_(asks))
    if page and level >= 3 and shown >= 2:
        yield _("Read more about it: grader explain {name}").format(name=page)


def _read(path: Path) -> dict[str, int]:
    """Return the number of hints shown so far per exercise; {} if the file is missing or damaged."""
    try:
        counts = json.loads(read_regular(path))
    except (OSError, ValueError):
        return {}
    return {k: v for k, v in counts.items() if type(v) is int and v >= 0} if isinstance(counts, dict) else {}

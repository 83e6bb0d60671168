"""`grader hint`: one level more at each call."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from grader.cli.options import course_option
from grader.support.i18n import _

FILE = ".headway/hints.json"


@click.command()
@click.argument("exercise")
@course_option
@click.option("--again", is_flag=True, help=_("Show what was shown so far, and no more."))
def command(exercise: str, course: Path | None, again: bool) -> None:
    """Show a hint for an exercise: what to look at, then a question, then a pointer into the lesson.

    Where the last check named a mistake, first a question about just that, then the page about it.
    """
    from grader.intake.course import find
    from grader.student.progress import recall
    from grader.support.atomic_files import write_atomically

    where = find(course or Path.cwd())
    found = next((e for b in where.bundles for e in b.exercises if e.name == exercise), None)
    if found is None:
        raise click.UsageError(
            _("there is no exercise {name}; `grader` lists them all").format(name=exercise)
        )
    path = where.root / FILE
    levels = _read(path)
    shown = min(levels.get(exercise, 0) + (not again), len(found.hints))
    for line in _about_the_mistake(recall(where.root).get(exercise, {}), found.level, shown):
        click.echo(line)
    for number, hint in enumerate(found.hints[:shown], 1):
        click.echo(f"{number}. {_(hint)}")
    click.echo(
        _("({shown} of {all}; call it again for the next)").format(shown=shown, all=len(found.hints))
        if shown < len(found.hints)
        else _("(that was the last)")
    )
    path.parent.mkdir(exist_ok=True)
    write_atomically(path, json.dumps({**levels, exercise: shown}, sort_keys=True).encode())


def _about_the_mistake(last: Mapping[str, Any], level: int, shown: int) -> Iterator[str]:
    """The next levels after what the report said: a question, then where to read on; as far as allowed."""
    asks, page = str(last.get("asks", "")), str(last.get("page", ""))
    if last.get("outcome") != "failed":
        return
    if asks and level >= 2:
        yield _("about your last answer: {question}").format(question=_(asks))
    if page and level >= 3 and shown >= 2:
        yield _("a page about it: grader explain {name}").format(name=page)


def _read(path: Path) -> dict[str, int]:
    try:
        kept = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return {k: v for k, v in kept.items() if type(v) is int and v >= 0} if isinstance(kept, dict) else {}

"""`grader hint`: one level more at each call."""

from __future__ import annotations

import json
from pathlib import Path

import click

from grader.i18n import _

FILE = ".headway/hints.json"


@click.command()
@click.argument("exercise")
@click.option(
    "--course",
    type=click.Path(path_type=Path, file_okay=False),
    help=_("The course folder, if you are not in it."),
)
@click.option("--again", is_flag=True, help=_("Show what was shown so far, and no more."))
def command(exercise: str, course: Path | None, again: bool) -> None:
    """Show a hint for an exercise: what to look at, then a question, then a pointer into the lesson."""
    from grader.course import find
    from grader.files import write_atomically

    where = find(course or Path.cwd())
    found = next((e for b in where.bundles for e in b.exercises if e.name == exercise), None)
    if found is None:
        raise click.UsageError(
            _("there is no exercise {name}; `grader` lists them all").format(name=exercise)
        )
    path = where.root / FILE
    levels = _read(path)
    shown = min(levels.get(exercise, 0) + (not again), len(found.hints))
    for number, hint in enumerate(found.hints[:shown], 1):
        click.echo(f"{number}. {_(hint)}")
    click.echo(
        _("({shown} of {all}; call it again for the next)").format(shown=shown, all=len(found.hints))
        if shown < len(found.hints)
        else _("(that was the last)")
    )
    path.parent.mkdir(exist_ok=True)
    write_atomically(path, json.dumps({**levels, exercise: shown}, sort_keys=True).encode())


def _read(path: Path) -> dict[str, int]:
    try:
        kept = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return {k: v for k, v in kept.items() if type(v) is int and v >= 0} if isinstance(kept, dict) else {}

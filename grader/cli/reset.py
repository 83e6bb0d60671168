"""`grader reset`: the stub again; the old file is kept beside it."""

from __future__ import annotations

import time
from pathlib import Path

import click

from grader.cli.options import course_option
from grader.support.i18n import _


@click.command()
@click.argument("exercise")
@course_option
def command(exercise: str, course: Path | None) -> None:
    """Put an exercise back to how it was handed out; the rest of the file stays, a copy is kept.

    A script gets the one definition back. A notebook's cell is found by the definition it holds.
    """
    from grader.intake.course import choose, find
    from grader.intake.restore import CannotRestore, restored
    from grader.support.atomic_files import write_atomically

    where = find(course or Path.cwd())
    bundle = next((b for b in where.bundles if exercise in [e.name for e in b.exercises]), None)
    if bundle is None:
        raise click.UsageError(
            _("there is no exercise {name}; `grader` lists them all").format(name=exercise)
        )
    path = choose(where.root / bundle.assignment, bundle)[0]
    old = path.read_bytes() if path.exists() else b""
    try:
        new = restored(
            old.decode("utf-8", "replace"), exercise, bundle.stub, notebook=path.suffix == ".ipynb"
        )
    except CannotRestore as error:
        raise click.UsageError(str(error)) from None
    if old:
        kept = path.with_name(f"{path.stem}.{time.strftime('%Y%m%d-%H%M%S')}{path.suffix}.old")
        write_atomically(kept, old)
        click.echo(_("the old file is kept as {name}").format(name=kept.name))
    write_atomically(path, new.encode())
    click.echo(_("{exercise} in {name} is as it was handed out").format(exercise=exercise, name=path.name))

"""`grader reset`: restore the original stub of an exercise; a copy of the old file is saved beside it."""

from __future__ import annotations

import time
from pathlib import Path

import click

from grader.cli.shared_options import course_option
from grader.support.i18n import _


@click.command(
    help=_(
        "Reset an exercise to its original stub. The rest of the file does not change, and a copy is saved."
        "\n\nIn a notebook, the cell that defines the exercise is reset."
    )
)
@click.argument("exercise")
@course_option
def command(exercise: str, course: Path | None) -> None:
    from grader.intake.course import find, one_exercise
    from grader.intake.read import read_own
    from grader.intake.stub_changes import CannotRestore, restored
    from grader.support.files import write_atomically

    where = find(course)
    exercise = one_exercise(exercise, where.bundles).name
    bundle = next(b for b in where.bundles if exercise in [e.name for e in b.exercises])
    path = where.file_for(bundle)
    old = read_own(path) if path.exists() else b""
    try:
        new = restored(
            old.decode("utf-8", "replace"), exercise, bundle.stub, notebook=path.suffix == ".ipynb"
        )
    except CannotRestore as error:
        raise click.UsageError(str(error)) from None
    if old:
        copy = path.with_name(f"{path.stem}.{time.strftime('%Y%m%d-%H%M%S')}{path.suffix}.old")
        write_atomically(copy, old)
        click.echo(_("Saved the old file as {name}.").format(name=copy.name))
    write_atomically(path, new.encode())
    click.echo(
        _("Reset {exercise} in {name} to the original stub.").format(exercise=exercise, name=path.name)
    )

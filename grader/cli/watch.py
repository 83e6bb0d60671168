"""`grader watch`: grade an exercise again whenever it is saved."""

from __future__ import annotations

import select
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.options import course_option, sandbox_option
from grader.support.i18n import _

if TYPE_CHECKING:
    from rich.console import Console

    from grader.student.watch import SavedFiles, Watcher

EXAMPLES = _("""\b
Examples:
  grader watch                 the first exercise that has not passed
  grader watch masked_softmax  this exercise

\b
Keys:
  h  show a hint
  n  go to the next exercise
  l  list all exercises
  q  quit

Saving another exercise switches to it.
""")


@click.command(
    help=_("Grade an exercise again whenever you save it, until you press q or Ctrl-C."), epilog=EXAMPLES
)
@click.argument("exercise", required=False)
@course_option
@sandbox_option
def command(exercise: str | None, course: Path | None, sandbox: str) -> None:
    if find_spec("watchfiles") is None:
        raise click.UsageError(_("`grader watch` needs the package watchfiles: pip install 'headway[watch]'"))
    from rich.console import Console

    from grader.intake.course import find, wanted_exercises
    from grader.sandbox.choose import choose
    from grader.student.watch import SavedFiles, Watcher

    where = find(course or Path.cwd())
    current = wanted_exercises([exercise], where.bundles)[0] if exercise else ""
    launcher = choose(sandbox)
    console = Console(highlight=False)
    try:
        watcher, saves = Watcher(where, launcher, current), SavedFiles(where.root)
        try:
            _loop(watcher, saves, console)
        except KeyboardInterrupt:
            pass  # every outcome was saved when it was shown
        finally:
            saves.close()
            watcher.engine.close()
    finally:
        launcher.close()


def _loop(watcher: Watcher, saves: SavedFiles, console: Console) -> None:
    from grader.student.terminal_keys import read_keys, single_keys

    with single_keys() as terminal:
        _grade_and_show(watcher, console, terminal is not None)
        while True:
            ready, _w, _x = select.select(
                [saves.descriptor, *([] if terminal is None else [terminal])], [], []
            )
            if saves.descriptor in ready:
                if [path for path in saves.take() if watcher.note_save(path)]:
                    _grade_and_show(watcher, console, terminal is not None)
            elif terminal is not None:
                for key in read_keys(terminal) or "q":  # "": the terminal is closed
                    if key in "qQ\x04":
                        return
                    _act(key.lower(), watcher, console)


def _act(key: str, watcher: Watcher, console: Console) -> None:
    from grader.cli.hint import command as hint
    from grader.cli.map import show_map

    if key == "h" and hint.callback:
        hint.callback(watcher.current, watcher.course.root, again=False)
    elif key == "n":
        watcher.go_to_next()
        _grade_and_show(watcher, console, keys=True)
    elif key == "l":
        show_map(watcher.course.root)


def _grade_and_show(watcher: Watcher, console: Console, keys: bool) -> None:
    from grader.report.terminal import show

    report = watcher.grade()
    if keys:
        console.clear()
    show(report, console, every=True)
    watching = _("watching {exercise} in {file}").format(file=watcher.file.name, exercise=watcher.current)
    console.print(f"\n{watching}", style="dim", markup=False)
    if keys:
        console.print(_("h hint · n next · l list · q quit"), style="dim", markup=False)
    sys.stdout.flush()
    watcher.prepare_next_grading()

"""`grader watch`: an exercise is graded again whenever it is saved."""

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

    from grader.student.watch import Saves, Watcher

EXAMPLES = """\b
Examples:
  grader watch                  the first exercise that is not passed
  grader watch masked_softmax   this one

\b
Keys: h a hint, n the next exercise, l the list of all, q quit. Saving another exercise turns to that one.
"""


@click.command(epilog=EXAMPLES)
@click.argument("exercise", required=False)
@course_option
@sandbox_option
def command(exercise: str | None, course: Path | None, sandbox: str) -> None:
    """Grade an exercise again whenever you save it, until you press q or Ctrl-C."""
    if find_spec("watchfiles") is None:
        raise click.UsageError(_("watch needs the package watchfiles: pip install 'headway[watch]'"))
    from rich.console import Console

    from grader.intake.course import find, wanted_exercises
    from grader.sandbox.choose import choose
    from grader.student.watch import Saves, Watcher

    where = find(course or Path.cwd())
    current = wanted_exercises([exercise], where.bundles)[0] if exercise else ""
    launcher = choose(sandbox)
    console = Console(highlight=False)
    try:
        watcher, saves = Watcher(where, launcher, current), Saves(where.root)
        try:
            _loop(watcher, saves, console)
        except KeyboardInterrupt:
            pass  # every verdict is remembered when it is shown: there is nothing to lose
        finally:
            saves.close()
            watcher.engine.close()
    finally:
        launcher.close()


def _loop(watcher: Watcher, saves: Saves, console: Console) -> None:
    from grader.student.terminal_keys import keys, pressed

    with keys() as terminal:
        _verdict(watcher, console, terminal is not None)
        while True:
            ready, _w, _x = select.select(
                [saves.descriptor, *([] if terminal is None else [terminal])], [], []
            )
            if saves.descriptor in ready:
                if [path for path in saves.take() if watcher.saved(path)]:
                    _verdict(watcher, console, terminal is not None)
            elif terminal is not None:
                for key in pressed(terminal) or "q":  # "": the terminal is gone
                    if key in "qQ\x04":
                        return
                    _act(key.lower(), watcher, console)


def _act(key: str, watcher: Watcher, console: Console) -> None:
    from grader.cli.hint import command as hint
    from grader.cli.map import show_map

    if key == "h" and hint.callback:
        hint.callback(watcher.current, watcher.course.root, again=False)
    elif key == "n":
        watcher.next()
        _verdict(watcher, console, keys=True)
    elif key == "l":
        show_map(watcher.course.root)


def _verdict(watcher: Watcher, console: Console, keys: bool) -> None:
    from grader.report.terminal import show

    report = watcher.grade()
    if keys:
        console.clear()
    show(report, console, every=True)
    words = _("watching {file} for {exercise}").format(file=watcher.file.name, exercise=watcher.current)
    console.print(
        words + (_("   h hint · n next · l list · q quit") if keys else ""), style="dim", markup=False
    )
    sys.stdout.flush()
    watcher.rest()

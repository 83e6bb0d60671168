"""`grader watch`: grade an exercise again whenever it is saved."""

from __future__ import annotations

import sys
import time
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

import click

from grader.cli.options import course_option, sandbox_option
from grader.support.i18n import _

if TYPE_CHECKING:
    from rich.console import Console

    from grader.student.watch import Watcher

SLICE = 0.2  # seconds: on Windows, Ctrl-C has an effect only between two waits
QUIET = 60.0  # seconds without a save after which the command to use instead is shown
Events = SimpleQueue[Path | str]  # a saved file, or a key

EXAMPLES = _("""\b
Examples:
  grader watch                 the first exercise that has not passed
  grader watch masked_softmax  this exercise

\b
Keys:
  h  show a hint                    e  explain the known mistake
  n  go to the next exercise        p  go to the previous one
  l  list and filter all exercises  a  check all exercises
  r  reset the exercise             q  quit

Saving another exercise switches to it. The next `grader watch` continues with the last exercise.
""")


@click.command(
    help=_("Grade an exercise again whenever you save it, until you press q or Ctrl-C."), epilog=EXAMPLES
)
@click.argument("exercise", required=False)
@course_option
@sandbox_option
def command(exercise: str | None, course: Path | None, sandbox: str) -> None:
    if find_spec("watchfiles") is None:
        raise click.UsageError(
            _("`grader watch` needs the package watchfiles: python -m pip install watchfiles")
        )
    from rich.console import Console

    from grader.intake.course import find, wanted_exercises
    from grader.sandbox.choose import choose
    from grader.student.saved_files import SavedFiles
    from grader.student.watch import Watcher

    where = find(course or Path.cwd())
    current = wanted_exercises([exercise], where.bundles)[0] if exercise else ""
    launcher = choose(sandbox)
    console = Console(highlight=False)
    try:
        watcher, events = Watcher(where, launcher, current), Events()
        saves = SavedFiles(where.root, watcher.files, events.put)
        try:
            _loop(watcher, events, console)
        except KeyboardInterrupt:
            pass  # every outcome was saved when it was shown
        finally:
            saves.close()
            watcher.engine.close()
    finally:
        launcher.close()


def _loop(watcher: Watcher, events: Events, console: Console) -> None:
    from grader.cli.watch_keys import WatchKeys
    from grader.student.terminal_keys import single_keys

    with single_keys(events.put) as has_keys:
        keys = WatchKeys(watcher, console, partial(_grade_and_show, watcher, console, has_keys))
        keys.regrade()
        quiet_until: float | None = time.monotonic() + QUIET
        while True:
            event = _next(events, quiet_until)
            if event is None:
                _show_command(watcher, console)
                quiet_until = None
            elif isinstance(event, str):
                if keys.press(event):
                    return
            else:
                saved = [path for path in [event, *_other_saves(events)] if watcher.note_save(path)]
                if saved:
                    keys.regrade()
                    quiet_until = None


def _next(events: Events, until: float | None) -> Path | str | None:
    """Wait for the next event, or until a moment of `time.monotonic`."""
    while until is None or time.monotonic() < until:
        try:
            return events.get(timeout=SLICE)
        except Empty:
            continue
    return None


def _other_saves(events: Events) -> list[Path]:
    """Take the saves that wait behind another one; keys stay in their order."""
    taken: list[Path | str] = []
    while not events.empty():
        taken.append(events.get())
    for event in taken:
        if isinstance(event, str):
            events.put(event)
    return [event for event in taken if isinstance(event, Path)]


def _show_command(watcher: Watcher, console: Console) -> None:
    command = f"grader check {watcher.current}"
    said = _("No save was noticed so far. If you saved, run this instead: {command}").format(command=command)
    console.print(said, markup=False)


def _grade_and_show(watcher: Watcher, console: Console, keys: bool) -> None:
    from grader.cli.exercise_list import course_bar
    from grader.cli.watch_keys import footer
    from grader.report.look import lines_to_look_at
    from grader.report.terminal import show
    from grader.student.exercise_list import rows_of

    report = watcher.grade()
    if keys:
        console.clear()
    show(report, console, every=True)
    sys.stdout.flush()
    for line in lines_to_look_at(watcher.with_lines(report).exercises):
        console.print(line)
    watching = _("watching {exercise} in {file}").format(file=watcher.file.name, exercise=watcher.current)
    console.print(f"\n{watching}", style="dim", markup=False)
    if keys:
        console.print(course_bar(rows_of(watcher.course), console.width))
        console.print(footer(), style="dim", markup=False)
    sys.stdout.flush()
    watcher.prepare_next_grading()

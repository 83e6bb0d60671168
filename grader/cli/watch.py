"""`grader watch`: grade an exercise again whenever it is saved."""

from __future__ import annotations

import sys
import time
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

import click

from grader.cli.shared_options import course_option, sandbox_option
from grader.student.background import Background, Result
from grader.support.i18n import _

if TYPE_CHECKING:
    from rich.console import Console

    from grader.student.watch import Watcher

SLICE = 0.2  # seconds of one wait for an event: on Windows, Ctrl-C has an effect only between two waits
QUIET = 60.0  # seconds after the start; if no save was graded by then, suggest `grader check …`
Events = SimpleQueue[Path | str | Result]  # a saved file, a key, or a result of a run

EXAMPLES = _("""\b
Examples:
  grader watch                 the last one if open, else the first open one
  grader watch masked_softmax  this exercise

\b
Keys:
  h  show a hint                    e  explain the known mistake
  n  go to the next open exercise   p  go to the previous one
  l  list and filter all exercises  a  check all exercises
  r  reset the exercise             q  quit

Saving another exercise switches to it. An exercise is open until it has passed.
""")


@click.command(
    help=_("Grade an exercise again whenever you save it, until you press q or Ctrl-C."), epilog=EXAMPLES
)
@click.argument("exercise", required=False)
@course_option
@sandbox_option
def watch(exercise: str | None, course: Path | None, sandbox: str) -> None:
    if find_spec("watchfiles") is None:
        raise click.UsageError(
            _("`grader watch` needs the package watchfiles: python -m pip install watchfiles")
        )
    from rich.console import Console

    from grader.intake.course import find, wanted_exercises
    from grader.sandbox.choose import choose
    from grader.student.saved_files import SavedFiles
    from grader.student.watch import Watcher

    where = find(course)
    current = wanted_exercises([exercise], where.bundles)[0] if exercise else ""
    launcher = choose(sandbox)
    console = Console(highlight=False)
    try:
        watcher, events = Watcher(where, launcher, current), Events()
        runs = Background(watcher.engine.context.workers.stop, watcher.engine.close, events.put)
        saves = SavedFiles(where.root, watcher.files, events.put)
        try:
            _loop(watcher, events, runs, console)
        except KeyboardInterrupt:
            pass  # every outcome was saved when it was graded
        finally:
            saves.close()
            runs.close(watcher.engine.close)
    finally:
        launcher.close()


def _loop(watcher: Watcher, events: Events, runs: Background, console: Console) -> None:
    from grader.cli.watch_keys import WatchKeys
    from grader.student.terminal_keys import single_keys

    status = RunningLine(watcher, runs)
    with single_keys(events.put) as has_keys, closing(status):
        keys = WatchKeys(watcher, console, runs.start, has_keys)
        keys.regrade()
        quiet_until: float | None = time.monotonic() + QUIET
        while True:
            event = _next(events, quiet_until, status)
            if event is None:
                says = _("No save was noticed so far. If you saved, run this instead: {command}")
                console.print(says.format(command=f"grader check {watcher.current}"), markup=False)
                quiet_until = None
            elif isinstance(event, Result):
                if event.error is not None:
                    raise event.error
                if event.job == runs.number:  # not a result of an earlier run that was ended
                    keys.show(event.value)
            elif isinstance(event, str):
                if keys.press(event):
                    return
            else:
                saved = [event, *_other_saves(events)]
                # A list and not `any`: every save must be noted.
                to_grade = [path for path in saved if watcher.note_save(path)]
                if to_grade:
                    keys.regrade()
                    quiet_until = None


class RunningLine:
    """The line that names what runs and for how long. Nothing else is printed while it is shown."""

    def __init__(self, watcher: Watcher, runs: Background):
        from rich.console import Console

        self._watcher, self._runs = watcher, runs
        self._line = Console(stderr=True, highlight=False).status("") if sys.stderr.isatty() else None
        self._is_shown = False

    def update(self) -> None:
        """Show the line if a run has taken longer than SLICE, otherwise remove it."""
        seconds = self._runs.seconds
        if self._line is None or seconds is None or seconds < SLICE:
            self.close()
            return
        self._line.update(_("{what}, {seconds:.0f} s").format(what=self._watcher.label, seconds=seconds))
        if not self._is_shown:
            self._line.start()
            self._is_shown = True

    def close(self) -> None:
        """Remove the line."""
        if self._line is not None and self._is_shown:
            self._line.stop()
            self._is_shown = False


def _next(events: Events, until: float | None, status: RunningLine) -> Path | str | Result | None:
    """Return the next event; None if none comes before `until`, a time of `time.monotonic` (None: no limit)."""
    event = None
    while event is None and (until is None or time.monotonic() < until):
        try:
            event = events.get(timeout=SLICE)
        except Empty:
            status.update()
    status.close()
    return event


def _other_saves(events: Events) -> list[Path]:
    """Take all waiting saves from the queue and return them; other events stay in it, in their order."""
    taken: list[Path | str | Result] = []
    while not events.empty():
        taken.append(events.get())
    for event in taken:
        if not isinstance(event, Path):
            events.put(event)
    return [event for event in taken if isinstance(event, Path)]

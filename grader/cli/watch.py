"""`grader watch`: grade an exercise again whenever it is saved."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from queue import Empty, SimpleQueue

import click
from rich.console import Console

from grader.cli.help import explain, hint, reset
from grader.cli.overview import course_bar, list_screen
from grader.cli.shared_options import course_option, sandbox_option
from grader.intake.course import find, wanted_exercises
from grader.report.model import Report
from grader.report.terminal import halves
from grader.sandbox.choose import choose
from grader.student import progress
from grader.student.background import Background, Show
from grader.student.exercise_list import ENTER, ExerciseList, rows_of
from grader.student.saved_files import SavedFiles
from grader.student.terminal_keys import QUIT, single_keys
from grader.student.watch import Watcher
from grader.support.errors import UsageError
from grader.support.i18n import _

SLICE = 0.2  # seconds of one wait for an event: on Windows, Ctrl-C has an effect only between two waits
QUIET = 60.0  # seconds after the start; if no save was graded by then, suggest `grader check …`
Event = Path | str | Show  # a saved file, a key, or what a job shows

EXAMPLES = _("""\b
Examples:
  grader watch                 the last one if open, else the first open one
  grader watch masked_softmax  this exercise

\b
Keys:
  h  show a hint                    e  explain the known mistake
  n  go to the next open exercise   p  go to the previous one
  l  list all exercises             a  check all exercises
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
    where = find(course)
    current = wanted_exercises([exercise], where.bundles)[0] if exercise else ""
    with closing(choose(sandbox)) as launcher:
        watcher, events = Watcher(where, launcher, current), SimpleQueue[Event]()
        jobs = Background(watcher.engine.context.workers.stop, watcher.engine.close, events.put)
        saves = SavedFiles(where.root, watcher.files, events.put)
        try:
            _loop(watcher, events, jobs, Console(highlight=False))
        except KeyboardInterrupt:
            pass  # every outcome was saved when it was graded
        finally:
            saves.close()
            jobs.close(watcher.engine.close)


def _loop(watcher: Watcher, events: SimpleQueue[Event], jobs: Background, console: Console) -> None:
    with single_keys(events.put) as has_keys, closing(RunningLine(watcher, jobs)) as status:
        keys = WatchKeys(watcher, console, jobs.start, has_keys)
        keys.regrade()
        quiet_until: float | None = time.monotonic() + QUIET
        to_grade = False
        while True:
            match _next(events, quiet_until, status):
                case None:
                    says = _("No save was noticed so far. If you saved, run this instead: {command}")
                    command = f"grader check {watcher.current}"
                    console.print(says.format(command=command), markup=False)
                    quiet_until = None
                case Path() as saved:
                    to_grade = watcher.note_save(saved) or to_grade
                case str() as key:
                    if keys.press(key):
                        return
                case shown:
                    shown()
            if to_grade and events.empty():  # after several saves at once, grade once
                keys.regrade()
                quiet_until, to_grade = None, False


def _next(events: SimpleQueue[Event], until: float | None, status: RunningLine) -> Event | None:
    """Return the next event; None if none comes before `until`, a time of `time.monotonic` (None: no limit)."""
    event = None
    while event is None and (until is None or time.monotonic() < until):
        try:
            event = events.get(timeout=SLICE)
        except Empty:
            status.update()
    status.close()
    return event


class RunningLine:
    """The line that names what runs and for how long. Nothing else is printed while it is shown."""

    def __init__(self, watcher: Watcher, jobs: Background):
        self._watcher, self._jobs = watcher, jobs
        self._line = Console(stderr=True, highlight=False, quiet=not sys.stderr.isatty()).status("")

    def update(self) -> None:
        """Show the line if a job has taken longer than SLICE, otherwise remove it."""
        seconds = self._jobs.seconds
        if seconds is None or seconds < SLICE:
            self.close()
        else:
            says = _("{what}, {seconds:.0f} s")
            self._line.update(says.format(what=self._watcher.label, seconds=seconds))
            self._line.start()

    def close(self) -> None:
        """Remove the line."""
        self._line.stop()


class WatchKeys:
    """Acts on keys, and says what the jobs do and show.

    start: ends the previous job and starts a new one. clear: whether to clear the screen before a report, and to print
    the bar of the course and the keys after it.
    """

    def __init__(
        self, watcher: Watcher, console: Console, start: Callable[[Iterator[Show]], None], clear: bool
    ):
        self.watcher, self.console, self.start, self.clear = watcher, console, start, clear
        self._list: ExerciseList | None = None
        self._asked_to_reset = False

    def regrade(self) -> None:
        """Leave the list, if it is shown, and grade the current exercise."""
        self._list = None
        self.watcher.save_current()
        self.start(self._graded(self.watcher.current))

    def _graded(self, exercise: str) -> Iterator[Show]:
        """In the thread of `Background`: grade, search for a line, and prepare the next job."""
        report = self.watcher.grade(exercise)
        yield partial(self._show, self._verdict, report)
        yield partial(self._show, self._rest, self.watcher.with_lines(report))
        self.watcher.label = _("preparing the next run")
        self.watcher.prepare_next_grading()

    def _graded_all(self) -> Iterator[Show]:
        """In the thread of `Background`: grade every exercise, one after another."""
        names = self.watcher.names
        says = _("grading {name} ({number} of {all})")
        for number, name in enumerate(names, 1):
            self.watcher.grade(name, says.format(name=name, number=number, all=len(names)))
        yield self._open_list

    def _show(self, part: Callable[[Report], None], report: Report) -> None:
        """Show a part of a report; while the list is shown, only update the list."""
        if self._list is None:
            part(report)
            sys.stdout.flush()
        else:
            self._open_list()

    def _verdict(self, report: Report) -> None:
        if self.clear:
            self.console.clear()
        self.console.print(halves(report, self.console, every=True)[0])

    def _rest(self, report: Report) -> None:
        """Show what follows the verdict: the lines to look at were found last."""
        watcher = self.watcher
        self.console.print(halves(report, self.console, every=True, says_next=not self.clear)[1])
        file = watcher.file.relative_to(watcher.course.root).as_posix()
        watching = _("watching {exercise} in {file}").format(file=file, exercise=watcher.current)
        self.console.print(f"\n{watching}", style="dim", markup=False)
        if self.clear:
            self.console.print(course_bar(rows_of(watcher.course), self.console.width))
            keys = _("h hint · e explain · n next · p previous · l list · a all · r reset · q quit")
            self.console.print(keys, style="dim", markup=False)

    def press(self, key: str) -> bool:
        """Act on one key. Return whether to quit."""
        if key in QUIT:
            return True
        if self._list is not None:
            self._press_in(self._list, key)
            return False
        if self._asked_to_reset:
            self._asked_to_reset = False
            if key in "yY":
                self._call(reset, self.watcher.current)
            else:
                click.echo(_("Nothing was reset."))
            return False
        match key.lower():
            case "h":
                self._call(hint, self.watcher.current, again=False)
            case "e":
                self._explain()
            case "n":
                self.watcher.go_to_next()
                self.regrade()
            case "p":
                self.watcher.go_to_previous()
                self.regrade()
            case "l":
                self._open_list()
            case "a":
                self.start(self._graded_all())
            case "r":
                says = _(
                    "Reset {exercise} in {file} to its stub? The old file is saved beside it. y: yes, any other key: no"
                )
                click.echo(says.format(exercise=self.watcher.current, file=self.watcher.file.name))
                self._asked_to_reset = True
        return False

    def _call(self, command: click.Command, name: str, **options: bool) -> None:
        assert command.callback
        try:
            command.callback(name, self.watcher.course.root, **options)
        except (click.UsageError, UsageError) as error:
            click.echo(str(error))

    def _explain(self) -> None:
        page = progress.load(self.watcher.course.root)[self.watcher.current].page
        if page:
            self._call(explain, page)
        else:
            click.echo(_("The last check found no known mistake. Press h for a hint."))

    def _open_list(self) -> None:
        """Show the list; if it is shown, with the outcomes as they are now."""
        rows = rows_of(self.watcher.course)
        self._list = self._list or ExerciseList(rows, self.watcher.current)
        self._list.rows = rows
        self._show_list(self._list)

    def _show_list(self, shown: ExerciseList) -> None:
        self.console.clear()
        self.console.print(list_screen(shown, self.console))

    def _press_in(self, shown: ExerciseList, key: str) -> None:
        done = shown.press(key)
        if not done:
            self._show_list(shown)
            return
        if done == ENTER:
            self.watcher.current = shown.current
        self.regrade()

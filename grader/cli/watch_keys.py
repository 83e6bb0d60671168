"""The keys of `grader watch`, and what is printed for them and for results."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from grader.report.model import Report
from grader.student.exercise_list import ENTER, ExerciseList, rows_of
from grader.student.terminal_keys import QUIT
from grader.support.errors import UsageError
from grader.support.i18n import _

if TYPE_CHECKING:
    from rich.console import Console

    from grader.student.watch import Watcher


@dataclass(frozen=True)
class WithLines:
    """A report that was shown, with the lines to look at."""

    report: Report


class WatchKeys:
    """Acts on keys and on results.

    start: ends the previous run and starts a new one. clear: whether to clear the screen before a report, and to print
    the bar of the course and the keys after it.
    """

    def __init__(
        self, watcher: Watcher, console: Console, start: Callable[[Iterator[object]], None], clear: bool
    ):
        self.watcher, self.console, self.start, self.clear = watcher, console, start, clear
        self._list: ExerciseList | None = None
        self._asked_to_reset = False

    def regrade(self) -> None:
        """Leave the list, if it is shown, and grade the current exercise."""
        self._list = None
        self.watcher.save_current()
        self.start(self._graded(self.watcher.current))

    def show(self, value: object) -> None:
        """Show a result of a run: a report, a report with lines, or None when all exercises are graded.

        While the list is shown, only update the list.
        """
        if self._list is not None:
            self._list.rows = rows_of(self.watcher.course)
            self._show_list()
        elif isinstance(value, Report):
            self._show_report(value)
        elif isinstance(value, WithLines):
            self._show_rest(value.report)
        else:
            self._open_list()

    def _graded(self, exercise: str) -> Iterator[object]:
        """In the thread of `Background`: grade, search for a line, and prepare the next run."""
        report = self.watcher.grade(exercise)
        yield report
        yield WithLines(self.watcher.with_lines(report))
        self.watcher.label = _("preparing the next run")
        self.watcher.prepare_next_grading()

    def _graded_all(self) -> Iterator[object]:
        """In the thread of `Background`: grade every exercise, one after another."""
        names = self.watcher.names
        says = _("grading {name} ({number} of {all})")
        for number, name in enumerate(names, 1):
            self.watcher.grade(name, says.format(name=name, number=number, all=len(names)))
        yield None

    def _show_report(self, report: Report) -> None:
        from grader.report.terminal import show

        if self.clear:
            self.console.clear()
        show(report, self.console, every=True)
        sys.stdout.flush()

    def _show_rest(self, report: Report) -> None:
        from grader.cli.overview import course_bar
        from grader.report.terminal import show_lines

        watcher = self.watcher
        show_lines(report, self.console)
        watching = _("watching {exercise} in {file}").format(file=watcher.file.name, exercise=watcher.current)
        self.console.print(f"\n{watching}", style="dim", markup=False)
        if self.clear:
            self.console.print(course_bar(rows_of(watcher.course), self.console.width))
            keys = _("h hint · e explain · n next · p previous · l list · a all · r reset · q quit")
            self.console.print(keys, style="dim", markup=False)
        sys.stdout.flush()

    def press(self, key: str) -> bool:
        """Act on one key. Return whether to quit."""
        if key in QUIT:
            return True
        if self._list is not None:
            self._in_list(key)
            return False
        confirmed = self._asked_to_reset and key in "yY"
        self._asked_to_reset = False
        if confirmed:
            self._reset()
        action = {
            "h": self._hint,
            "e": self._explain,
            "n": lambda: self._go(self.watcher.go_to_next),
            "p": lambda: self._go(self.watcher.go_to_previous),
            "l": self._open_list,
            "a": lambda: self.start(self._graded_all()),
            "r": self._ask_to_reset,
        }.get(key.lower())
        if action is not None:
            action()
        return False

    def _go(self, move: Callable[[], None]) -> None:
        move()
        self.regrade()

    def _hint(self) -> None:
        from grader.cli.help import hint

        self._call(hint, self.watcher.current, again=False)

    def _call(self, command: click.Command, name: str, **options: bool) -> None:
        assert command.callback
        try:
            command.callback(name, self.watcher.course.root, **options)
        except (click.UsageError, UsageError) as error:
            click.echo(str(error))

    def _explain(self) -> None:
        from grader.cli.help import explain
        from grader.student import progress

        page = progress.load(self.watcher.course.root)[self.watcher.current].page
        if page:
            self._call(explain, page)
        else:
            click.echo(_("The last check found no known mistake. Press h for a hint."))

    def _ask_to_reset(self) -> None:
        click.echo(
            _("Reset {exercise} in {file} to its stub? The old file is saved beside it. y: yes").format(
                exercise=self.watcher.current, file=self.watcher.file.name
            )
        )
        self._asked_to_reset = True

    def _reset(self) -> None:
        from grader.cli.help import reset

        self._call(reset, self.watcher.current)

    def _open_list(self) -> None:
        self._list = ExerciseList(rows_of(self.watcher.course), self.watcher.current)
        self._show_list()

    def _show_list(self) -> None:
        from grader.cli.overview import list_screen

        assert self._list is not None
        self.console.clear()
        self.console.print(list_screen(self._list, self.console.width, self.console.height))

    def _in_list(self, key: str) -> None:
        assert self._list is not None
        done = self._list.press(key)
        if not done:
            self._show_list()
            return
        if done == ENTER:
            self.watcher.current = self._list.current
        self.regrade()

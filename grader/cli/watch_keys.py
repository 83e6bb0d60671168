"""What the keys of `grader watch` do. Each key prints something below the report, or shows another exercise."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from grader.student.terminal_keys import QUIT
from grader.support.i18n import _

if TYPE_CHECKING:
    from rich.console import Console

    from grader.student.exercise_list import ExerciseList
    from grader.student.watch import Watcher


def footer() -> str:
    """Return the keys, in one line."""
    return _("h hint · e explain · n next · p previous · l list · a all · r reset · q quit")


class WatchKeys:
    """Acts on keys. grade: grades the current exercise and shows it."""

    def __init__(self, watcher: Watcher, console: Console, grade: Callable[[], None]):
        self.watcher, self.console, self.grade = watcher, console, grade
        self._list: ExerciseList | None = None
        self._asked_to_reset = False

    def regrade(self) -> None:
        """Leave the list, if it is shown, and grade the current exercise."""
        self._list = None
        self.grade()

    def press(self, key: str) -> bool:
        """Act on one key. Return whether to quit."""
        if key in QUIT:
            return True
        if self._list is not None:
            self._in_list(key)
            return False
        confirmed, self._asked_to_reset = self._asked_to_reset and key in "yY", False
        if confirmed:
            self._reset()
        action = {
            "h": self._hint,
            "e": self._explain,
            "n": lambda: self._go(self.watcher.go_to_next),
            "p": lambda: self._go(self.watcher.go_to_previous),
            "l": self._open_list,
            "a": self._check_all,
            "r": self._ask_to_reset,
        }.get(key.lower())
        if action is not None:
            action()
        return False

    def _go(self, move: Callable[[], None]) -> None:
        move()
        self.grade()

    def _hint(self) -> None:
        from grader.cli.hint import command

        if command.callback:
            command.callback(self.watcher.current, self.watcher.course.root, again=False)

    def _explain(self) -> None:
        from grader.cli.explain import command
        from grader.student import progress

        root = self.watcher.course.root
        page = progress.load(root).get(self.watcher.current, {}).get("page", "")
        if not page:
            click.echo(_("The last check found no known mistake. Press h for a hint."))
            return
        try:
            if command.callback:
                command.callback(page, root)
        except click.UsageError as error:
            click.echo(error.format_message())

    def _ask_to_reset(self) -> None:
        click.echo(
            _("Reset {exercise} in {file} to its stub? The old file is saved beside it. y: yes").format(
                exercise=self.watcher.current, file=self.watcher.file.name
            )
        )
        self._asked_to_reset = True

    def _reset(self) -> None:
        from grader.cli.reset import command

        try:
            if command.callback:
                command.callback(self.watcher.current, self.watcher.course.root)
        except click.UsageError as error:
            click.echo(error.format_message())

    def _check_all(self) -> None:
        """Grade every exercise, each in its turn, and show the list."""
        here, names = self.watcher.current, self.watcher.names
        for number, name in enumerate(names, 1):
            self.console.print(
                _("grading {name} ({number} of {all})").format(name=name, number=number, all=len(names)),
                markup=False,
            )
            self.watcher.current = name
            self.watcher.grade()
        self.watcher.current = here
        self.watcher.save_current()
        self._open_list()

    def _open_list(self) -> None:
        from grader.student.exercise_list import ExerciseList, rows_of

        self._list = ExerciseList(rows_of(self.watcher.course), self.watcher.current)
        self._show_list()

    def _show_list(self) -> None:
        from grader.cli.exercise_list import list_screen

        assert self._list is not None
        self.console.clear()
        self.console.print(list_screen(self._list, self.console.width, self.console.height))

    def _in_list(self, key: str) -> None:
        from grader.student.exercise_list import ENTER

        assert self._list is not None
        done = self._list.press(key)
        if not done:
            self._show_list()
            return
        if done == ENTER:
            self.watcher.current = self._list.current
        self.regrade()

"""The work of `grader watch`: find the exercise that changed in a saved file, grade it, move between exercises."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from grader.bundle.model import Bundle
from grader.engine.engine import Engine
from grader.engine.grade_exercise import FOLDER
from grader.engine.grading import GradingOptions
from grader.engine.session import Training
from grader.intake.course import Course
from grader.intake.names import read_names
from grader.intake.read import Blocked, read_submission
from grader.lines.find import Source, add_lines
from grader.report.model import Report
from grader.sandbox.base import Launcher
from grader.student import progress
from grader.student.check import blocked, grade_assignment
from grader.student.outlook import with_outlook
from grader.student.status_line import training_bar
from grader.support.i18n import _


class Watcher:
    """Grades the current exercise, and chooses it by the file that was saved. The caller runs one grading at a time.

    names: all exercises of the course, in their order. current: the exercise. label: what a grading is doing, for the
    status line.
    """

    def __init__(self, course: Course, launcher: Launcher, current: str = ""):
        self.course, self.launcher = course, launcher
        options = GradingOptions(torch_version=version("torch"), cache=course.root / FOLDER)
        self.engine = Engine(course.bundles, launcher, options)
        self.label = ""
        self._warm = False
        self._bundle_of = {e.name: b for b in course.bundles for e in b.exercises}
        self.names = list(self._bundle_of)
        self.current = current or progress.to_continue_with(course.root, self.names)
        self._sources: dict[str, Source] = {}  # exercise → what it was graded from
        self._trees: dict[str, str] = {}  # exercise → its definition at the last save
        for bundle in course.bundles:
            self._changed_exercises(bundle)  # store the definitions as they are now

    @property
    def file(self) -> Path:
        """Return the file of the current exercise."""
        return self.course.file_for(self._bundle_of[self.current])

    @property
    def files(self) -> list[Path]:
        """Return all files that can be graded, as scripts and as notebooks."""
        return [file for bundle in self.course.bundles for file in self.course.possible_files(bundle)]

    def note_save(self, path: Path) -> bool:
        """Make the exercise that changed in this file the current one. Return whether there is something to grade.

        If none changed and the current exercise is in another file, take the next to do in this file.
        """
        bundle = next((b for b in self.course.bundles if path in self.course.possible_files(b)), None)
        if bundle is None or not path.exists():
            return False
        changed = self._changed_exercises(bundle)
        mine = [e.name for e in bundle.exercises]
        if changed and self.current not in changed:
            self.current = changed[0]
        elif self.current not in mine:
            self.current = self._next_to_do(mine)
        return True

    def _changed_exercises(self, bundle: Bundle) -> list[str]:
        """Return the exercises whose definitions differ from those at the last call."""
        try:
            found = read_names(read_submission(self.course.file_for(bundle))).definitions
        except Blocked:
            return []
        trees = {e.name: found[e.name].tree for e in bundle.exercises if e.name in found}
        changed = [name for name, tree in trees.items() if self._trees.get(name) != tree]
        self._trees.update(trees)
        return changed

    def grade(self, exercise: str, label: str = "") -> Report:
        """Grade an exercise and save the outcome. It may run in another thread. Raises Stopped."""
        self.label = label or _("grading {name}").format(name=exercise)
        bundle, engine = self._bundle_of[exercise], self.engine.with_options(on_training=self._show_training)
        try:
            self._sources[exercise], report = grade_assignment(engine, self.course, bundle, [exercise])
        except Blocked as why:
            self._sources.pop(exercise, None)
            report = self.engine.report([blocked(bundle, exercise, why)])
        progress.save(self.course.root, report.exercises)
        return with_outlook(report, self.course)

    def _show_training(self, title: str, training: Training) -> None:
        self.label = training_bar(title, training)

    def with_lines(self, report: Report) -> Report:
        """Return a report of `grade` with the lines to look at, if the course allows them."""
        if not self.course.settings.name_lines:
            return report
        self.label = _("searching for the line to look at")
        return add_lines(self.engine, report, self._sources)

    def prepare_next_grading(self) -> None:
        """End the worker now: then the next save is graded at once, in a worker that the launcher forked ahead.

        The first time, let the worker server import more of torch.
        """
        self.engine.close()
        if not self._warm:
            self._warm = True
            self.launcher.warm()

    def save_current(self) -> None:
        """Save which exercise the next run continues with."""
        progress.save_current(self.course.root, self.current)

    def go_to_previous(self) -> None:
        """Go back by one exercise; do nothing at the first."""
        self.current = self.names[max(0, self.names.index(self.current) - 1)]

    def go_to_next(self) -> None:
        """Go to the next exercise to do, or to the next if all have passed. The first comes after the last."""
        after = self.names.index(self.current) + 1
        self.current = self._next_to_do(self.names[after:] + self.names[:after])

    def _next_to_do(self, names: Sequence[str]) -> str:
        return progress.next_to_do(self.course.root, names) or names[0]

"""The work of `grader watch`: find the exercise that changed in a saved file, grade it, move between exercises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from grader.bundle.model import Bundle
from grader.engine.engine import Engine
from grader.engine.result_cache import FOLDER
from grader.engine.session import Training
from grader.engine.submission_run import GradingOptions
from grader.intake.course import Course
from grader.intake.names import Names, read_names
from grader.intake.neighbours import with_neighbours
from grader.intake.read import Blocked, Submission, read_submission
from grader.lines.find import Source, add_lines
from grader.report.model import Report
from grader.sandbox.base import Launcher
from grader.student import progress
from grader.student.check import blocked, parts_for
from grader.student.status_line import training_bar
from grader.support.i18n import _


@dataclass
class Watcher:
    """Grades the current exercise, and chooses it by the file that was saved. The caller runs one grading at a time.

    current: the exercise. label: what a grading is doing, for the status line.
    """

    course: Course
    launcher: Launcher
    current: str = ""
    label: str = ""
    _trees: dict[str, str] = field(default_factory=dict)  # exercise → its definition at the last save
    _warm: bool = False

    def __post_init__(self) -> None:
        self.engine = Engine(
            self.course.bundles,
            self.launcher,
            GradingOptions(torch_version=version("torch"), cache=self.course.root / FOLDER),
        )
        self._bundle_of: dict[str, Bundle] = {e.name: b for b in self.course.bundles for e in b.exercises}
        self.current = self.current or self._last_or_first_unsolved()
        for bundle in self.course.bundles:
            self._changed_exercises(bundle)  # store the definitions as they are now

    @property
    def file(self) -> Path:
        """Return the file of the current exercise."""
        return self.file_of(self.current)

    def file_of(self, exercise: str) -> Path:
        return self.course.file_for(self._bundle_of[exercise])

    @property
    def files(self) -> list[Path]:
        """Return all files that can be graded, as scripts and as notebooks."""
        return [file for bundle in self.course.bundles for file in self.course.possible_files(bundle)]

    def note_save(self, path: Path) -> bool:
        """Make the exercise that changed in this file the current one. Return whether there is something to grade.

        If none changed and the current exercise is in another file, take the first of this file that has not passed.
        """
        bundle = next((b for b in self.course.bundles if path in self.course.possible_files(b)), None)
        if bundle is None or not path.exists():
            return False
        changed = self._changed_exercises(bundle)
        mine = [e.name for e in bundle.exercises]
        if self.current not in changed:
            unchanged = self.current if self.current in mine else self._first_unsolved(mine)
            self.current = changed[0] if changed else unchanged
        return True

    def grade(self, exercise: str, label: str = "") -> Report:
        """Grade an exercise and save the outcome. It may run in another thread. Raises Stopped."""
        self.label = label or _("grading {name}").format(name=exercise)
        bundle = self._bundle_of[exercise]
        try:
            parts = parts_for(self.engine, self.course, bundle, [exercise])
            engine = self.engine.with_options(on_training=self._show_training)
            report = engine.grade(self._submission(exercise), [exercise], parts)
        except Blocked as why:
            report = self.engine.report([blocked(bundle, exercise, str(why))])
        progress.save(self.course.root, report.exercises)
        return report

    def _submission(self, exercise: str) -> Submission:
        return with_neighbours(read_submission(self.file_of(exercise)))

    def _show_training(self, title: str, training: Training) -> None:
        self.label = training_bar(title, training)

    def save_current(self) -> None:
        """Save which exercise the next run continues with."""
        progress.save_current(self.course.root, self.current)

    def with_lines(self, report: Report) -> Report:
        """Return the report of one exercise with the lines to look at, if the course allows them."""
        if not self.course.settings.name_lines:
            return report
        (name,) = (result.name for result in report.exercises)
        self.label = _("searching for the line to look at")
        try:
            parts = parts_for(self.engine, self.course, self._bundle_of[name], [name])
            source = Source(self._submission(name), parts)
        except Blocked:
            return report
        return add_lines(self.engine, report, {name: source})

    def prepare_next_grading(self) -> None:
        """End the worker now: then the next save is graded at once, in a worker that the launcher forked ahead.

        The first time, let the worker server import more of torch.
        """
        self.engine.close()
        if not self._warm:
            self._warm = True
            self.launcher.warm("full")

    @property
    def names(self) -> list[str]:
        """Return all exercises of the course, in their order."""
        return list(self._bundle_of)

    def go_to_previous(self) -> None:
        """Go back by one exercise; do nothing at the first."""
        names = self.names
        self.current = names[max(0, names.index(self.current) - 1)]

    def _last_or_first_unsolved(self) -> str:
        last = progress.load_current(self.course.root)
        is_open = progress.load(self.course.root)[last].outcome != "passed"
        return last if last in self._bundle_of and is_open else self._first_unsolved(self.names)

    def go_to_next(self) -> None:
        """Go to the next exercise that has not passed, or to the next if all have. The first comes after the last."""
        names = self.names
        after = names.index(self.current) + 1
        self.current = self._first_unsolved(names[after:] + names[:after])

    def _first_unsolved(self, names: Sequence[str]) -> str:
        known = progress.load(self.course.root)
        return next((name for name in names if known[name].outcome != "passed"), names[0])

    def _changed_exercises(self, bundle: Bundle) -> list[str]:
        """Return the exercises whose definitions differ from those at the last call."""
        try:
            names = read_names(read_submission(self.course.file_for(bundle)))
        except Blocked:
            names = Names({})
        trees = {
            e.name: names.definitions[e.name].tree for e in bundle.exercises if e.name in names.definitions
        }
        changed = [name for name, tree in trees.items() if self._trees.get(name) != tree]
        self._trees.update(trees)
        return changed

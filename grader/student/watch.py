"""The work of `grader watch`: notice a saved file, and grade the exercise that changed."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from grader.bundle.model import Bundle
from grader.engine.engine import Engine
from grader.engine.options import GradingOptions
from grader.engine.result_cache import FOLDER, ResultCache
from grader.intake.course import Course
from grader.intake.names import Names, read_names
from grader.intake.neighbours import with_neighbours
from grader.intake.read import Blocked, read_submission
from grader.report.model import Report
from grader.sandbox.base import Launcher
from grader.student import progress
from grader.student.check import blocked, parts_for
from grader.student.status_line import status_line

STEP, DEBOUNCE = 10, 60  # milliseconds: a save ends after STEP without a change, at the latest after DEBOUNCE


@dataclass
class Watcher:
    """Watches one exercise and grades it; never runs two gradings at once."""

    course: Course
    launcher: Launcher
    current: str = ""
    _trees: dict[str, str] = field(default_factory=dict)
    _warm: bool = False

    def __post_init__(self) -> None:
        self.engine = Engine(
            self.course.bundles,
            self.launcher,
            GradingOptions(torch_version=version("torch"), cache=ResultCache(self.course.root / FOLDER)),
        )
        self._bundle_of: dict[str, Bundle] = {e.name: b for b in self.course.bundles for e in b.exercises}
        self.current = self.current or self._first_unsolved(list(self._bundle_of))
        for bundle in self.course.bundles:
            self._changed_exercises(bundle)

    @property
    def file(self) -> Path:
        """The file of the current exercise."""
        return self.course.file_for(self._bundle_of[self.current])

    def note_save(self, path: Path) -> bool:
        """Make the exercise that changed in this file the current one. Return whether there is something to grade."""
        bundle = next(
            (b for b in self.course.bundles if path.parent.name == b.assignment and path.stem == b.module),
            None,
        )
        if bundle is None or path.suffix not in (".py", ".ipynb") or not path.exists():
            return False
        changed = self._changed_exercises(bundle)
        mine = [e.name for e in bundle.exercises]
        if self.current not in changed:
            self.current = next(
                iter(changed), self.current if self.current in mine else self._first_unsolved(mine)
            )
        return True

    def grade(self) -> Report:
        """Grade the current exercise and save the outcome."""
        bundle = self._bundle_of[self.current]
        try:
            parts = parts_for(self.engine, self.course, bundle, [self.current])
            with status_line(quiet=False) as status:
                engine = self.engine.with_options(on_training=status.training)
                submission = with_neighbours(read_submission(self.file))
                report = engine.grade(submission, [self.current], parts)
        except Blocked as why:
            report = self.engine.report([blocked(bundle, self.current, str(why))])
        progress.save(self.course.root, report.exercises)
        return report

    def prepare_next_grading(self) -> None:
        """Stop the worker, so that a new one is started early, and warm the fork-server up once."""
        self.engine.close()
        if not self._warm:
            self._warm = True
            self.launcher.warm("full")

    def go_to_next(self) -> None:
        """Make the next exercise that is not passed the current one."""
        names = list(self._bundle_of)
        after = names.index(self.current) + 1
        self.current = self._first_unsolved(names[after:] + names[:after])

    def _first_unsolved(self, names: Sequence[str]) -> str:
        known = progress.load(self.course.root)
        return next((name for name in names if known.get(name, {}).get("outcome") != "passed"), names[0])

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


class SavedFiles:
    """Collects saved files in a separate thread; `descriptor` becomes readable when there are any."""

    def __init__(self, root: Path):
        self.descriptor, self._wake = os.pipe()
        self._paths: set[Path] = set()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._listen, args=(root,), daemon=True)
        self._thread.start()

    def take(self) -> list[Path]:
        """Return the files saved since the last call, each once."""
        with self._lock:
            os.read(self.descriptor, 1 << 16)
            taken, self._paths = self._paths, set()
        return sorted(taken)

    def close(self) -> None:
        self._stop.set()
        self._thread.join()
        os.close(self.descriptor)
        os.close(self._wake)

    def _listen(self, root: Path) -> None:
        watch: Callable[..., Any] = import_module("watchfiles").watch
        for changes in watch(
            root,
            step=STEP,
            debounce=DEBOUNCE,
            stop_event=self._stop,
            rust_timeout=200,
            raise_interrupt=False,
            watch_filter=_is_student_file,
        ):
            with self._lock:
                self._paths |= {Path(path) for _change, path in changes}
                os.write(self._wake, b".")


def _is_student_file(change: object, path: str) -> bool:
    return path.endswith((".py", ".ipynb"))

"""`grader watch` without its words: hear of a save, grade the exercise that it is about, on one launcher."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from grader.bundle.model import Bundle
from grader.engine.engine import Engine
from grader.engine.options import GradingOptions
from grader.engine.result_cache import FOLDER, ResultCache
from grader.intake.course import Course
from grader.intake.names import Names, read_names
from grader.intake.read import Blocked, read_submission
from grader.report.model import Report
from grader.sandbox.base import Launcher
from grader.student import progress, status_line
from grader.student.check import blocked, parts_for

STEP, DEBOUNCE = 10, 60  # milliseconds without a change that end a save; the longest wait for them


@dataclass
class Watcher:
    """The exercise at hand and what grades it. Grading is never done beside anything else."""

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
        self._home: dict[str, Bundle] = {e.name: b for b in self.course.bundles for e in b.exercises}
        self.current = self.current or self._first_open(list(self._home))
        for bundle in self.course.bundles:
            self._changed(bundle)

    @property
    def file(self) -> Path:
        """The file in which the exercise at hand is written."""
        return self.course.file_for(self._home[self.current])

    def saved(self, path: Path) -> bool:
        """Take note of a changed file; whether it is one to grade. The exercise that was changed comes to hand."""
        bundle = next(
            (b for b in self.course.bundles if path.parent.name == b.assignment and path.stem == b.module),
            None,
        )
        if bundle is None or path.suffix not in (".py", ".ipynb") or not path.exists():
            return False
        changed = self._changed(bundle)
        mine = [e.name for e in bundle.exercises]
        if self.current not in changed:
            self.current = next(
                iter(changed), self.current if self.current in mine else self._first_open(mine)
            )
        return True

    def grade(self) -> Report:
        """Grade the exercise at hand and remember the outcome."""
        bundle = self._home[self.current]
        try:
            parts = parts_for(self.engine, self.course, bundle, [self.current])
            with status_line.line(quiet=False) as tell:
                engine = self.engine.with_options(on_training=tell.training)
                report = engine.grade(read_submission(self.file), [self.current], parts)
        except Blocked as why:
            report = self.engine.report([blocked(bundle, self.current, str(why))])
        progress.remember(self.course.root, report.exercises)
        return report

    def rest(self) -> None:
        """After a verdict was shown: end the worker, so that a fresh one stands ready, and warm the server."""
        self.engine.close()
        if not self._warm:
            self._warm = True
            self.launcher.warm("full")

    def next(self) -> None:
        """Take the next exercise that is not passed; stay where everything is."""
        names = list(self._home)
        after = names.index(self.current) + 1
        self.current = self._first_open(names[after:] + names[:after])

    def _first_open(self, names: Sequence[str]) -> str:
        known = progress.recall(self.course.root)
        return next((name for name in names if known.get(name, {}).get("outcome") != "passed"), names[0])

    def _changed(self, bundle: Bundle) -> list[str]:
        """Exercises of an assignment whose definitions are not what they were when this was last asked."""
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


class Saves:
    """Hears of saved files in a thread of its own; `descriptor` becomes readable when there are any."""

    def __init__(self, root: Path):
        self.descriptor, self._wake = os.pipe()
        self._paths: set[Path] = set()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._listen, args=(root,), daemon=True)
        self._thread.start()

    def take(self) -> list[Path]:
        """What was saved since the last time, each file once."""
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
        watch: Callable[..., Any] = __import__("watchfiles").watch
        for changes in watch(
            root,
            step=STEP,
            debounce=DEBOUNCE,
            stop_event=self._stop,
            rust_timeout=200,
            raise_interrupt=False,
            watch_filter=_counts,
        ):
            with self._lock:
                self._paths |= {Path(path) for _change, path in changes}
                os.write(self._wake, b".")


def _counts(change: object, path: str) -> bool:
    return path.endswith((".py", ".ipynb"))

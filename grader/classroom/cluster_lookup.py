"""Read files and look in the store, on the machine that runs `grader grade --cluster`.

A file with an exercise that has no stored result is packed with the modules that it imports, to be sent to a worker.
The process that looks up runs no student code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePosixPath

from grader.bundle.files import load_all
from grader.classroom.archives import BadArchive
from grader.classroom.grading_process import (
    MEMORY,
    READ_SECONDS,
    RunConfig,
    Task,
    TaskResult,
    grade,
    limit_memory,
    results_without_grading,
)
from grader.classroom.store import Store
from grader.engine.engine import Engine
from grader.engine.student_parts import Part
from grader.intake.neighbours import ReadFile, among
from grader.intake.read import Submission
from grader.report.model import Report
from grader.sandbox.base import Limits, Process, SandboxError


@contextmanager
def looking_up(allow: Callable[[float], None], config: RunConfig) -> Iterator[Callable[[Task], TaskResult]]:
    """Set up a process of the pool; yield the function that looks up a task.

    allow: see `ProcessPool`.
    """
    assert config.store is not None
    engine = _Elsewhere(config.rules.apply(load_all(config.bundles)), _NoLauncher())
    with closing(Store(config.store, config.key)) as store:
        limit_memory(MEMORY)

        def work(task: Task) -> TaskResult:
            allow(READ_SECONDS)
            result = look_up(engine, store, config, task)
            allow(float("inf"))
            return result

        yield work


def look_up(engine: Engine, store: Store, config: RunConfig, task: Task) -> TaskResult:
    """Return the stored results of a file; `to_send` is a task with the exercises that have none. Raises nothing.

    engine: an `_Elsewhere`.
    """
    try:
        data = task.read()
    except (OSError, BadArchive, MemoryError):
        return grade(engine, store, config, task)  # `grade` reports that the file cannot be read
    beside = _Noted(task.beside)
    found = grade(engine, store, config, replace(task, read=partial(bytes, data), beside=beside))
    if not found.new:  # `new` has the exercises without a stored result, all "could_not_grade"
        return found
    texts = among({str(place): partial(bytes, text) for place, text in beside.files.items()})
    missing = tuple(result.name for result in found.new)
    return replace(found, new=(), to_send=Task(task.number, task.file, partial(bytes, data), missing, texts))


@dataclass
class _Noted:
    """Reads files and notes those that were read: a submission is sent with the modules that it imports."""

    read: ReadFile
    files: dict[PurePosixPath, bytes] = field(default_factory=dict)

    def __call__(self, place: PurePosixPath) -> bytes | None:
        text = self.read(place)
        if text is not None:
            self.files[place] = text
        return text


class _Elsewhere(Engine):
    """An engine that grades nothing: it gives each exercise the outcome "could_not_grade"."""

    def grade(
        self, submission: Submission, wanted: Sequence[str] | None = None, parts: Sequence[Part] = ()
    ) -> Report:
        blank = results_without_grading(self.bundles, wanted or (), "could_not_grade", "")
        return Report(tuple(blank), "", "", "")


class _NoLauncher:
    tier = "none"

    def start(self, limits: Limits) -> Process:
        raise SandboxError("nothing is run here")

    def warm(self, level: str) -> None: ...

    def close(self) -> None: ...

"""Grade everything that was found and keep it as it comes: what is kept survives a kill at any moment."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from grader.authoring.hidden_cases import derived_key
from grader.bundle.model import Bundle
from grader.classroom.discover import SubmittedFile
from grader.classroom.store import Store, StoreKey
from grader.classroom.worker_pool import Crew
from grader.classroom.worker_process import Graded, Plan, Task, blocked, could_not
from grader.report.model import ExerciseResult, Report
from grader.support.version import __version__

WARM_FROM = 40  # submissions a process: from there on a warm server pays for itself

Tell = Callable[[int, int], None]  # submissions done, submissions graded and not just remembered


@dataclass(frozen=True)
class Entry:
    """One submission of the class and what came of it."""

    report: Report
    size: int  # characters of source
    problem: str  # why the file as a whole could not be graded
    ours: bool  # and that this is no fault of its author's
    fresh: bool  # graded now, not remembered

    @property
    def student(self) -> str:
        return self.report.extra["student"]

    @property
    def submission(self) -> str:
        return self.report.extra["submission"]


@dataclass
class Run:
    """One call of `grader grade`, from files to entries."""

    found: Sequence[SubmittedFile]
    bundles: Sequence[Bundle]
    plan: Plan
    jobs: int
    tell: Tell = lambda done, fresh: None
    _numbers: list[int] = field(default_factory=list)  # of the task that answers for each of `found`
    _graded: dict[int, Graded] = field(default_factory=dict)

    def grade(self) -> list[Entry]:
        """Grade, keep and hand back everything, in the order of `found`; equal files are graded once."""
        store = Store(self.plan.store, self.plan.key)
        fresh = 0
        try:
            with Crew(self.plan, self.jobs) as crew:
                for number, graded in crew.run(self._tasks()):
                    if graded.fresh:
                        store.put(graded.fresh)
                    fresh += bool(graded.fresh)
                    self._graded[number] = graded
                    self.tell(sum(n in self._graded for n in self._numbers), fresh)
        finally:
            store.close()
        return list(self._entries())

    def _tasks(self) -> Iterator[Task]:
        first: dict[tuple[object, ...], int] = {}
        for number, file in enumerate(self.found):
            key = (file.file, file.digest, file.expected)
            answers = first.setdefault(key, number) if file.digest and not file.problem else number
            self._numbers.append(answers)
            if file.problem:
                wanted = [name for name in file.expected if not self.plan.only or name in self.plan.only]
                results = blocked(self.bundles, wanted, file.problem)
                self._graded[number] = Graded(tuple(results), problem=file.problem)
            elif answers == number:
                yield Task(number, file.file, file.read, file.expected)

    def _entries(self) -> Iterator[Entry]:
        seen: set[int] = set()
        for handed, number in zip(self.found, self._numbers, strict=True):
            graded = self._graded[number]
            results = (
                could_not(self.bundles, handed.expected, graded.problem) if graded.ours else graded.results
            )
            report = self._report(handed, graded, results)
            yield Entry(
                report, graded.size, graded.problem, graded.ours, bool(graded.fresh) and number not in seen
            )
            seen.add(number)

    def _report(self, handed: SubmittedFile, graded: Graded, results: Sequence[ExerciseResult]) -> Report:
        unread = (graded.problem,) if graded.problem and not results else ()
        return Report(
            exercises=tuple(results),
            sandbox=self.plan.key.sandbox,
            torch=version("torch"),
            grader=__version__,
            seed="hidden",
            remarks=(*unread, *graded.remarks),
            extra={"student": handed.student, "submission": handed.submission, "content": graded.content},
        )


def store_key(bundles: Path, sandbox: str) -> StoreKey:
    """Return what results depend on: a hash of the cases, the versions, the tier; and the secret of the store."""
    digest = hashlib.sha256()
    for path in sorted(bundles.glob("*/bundle.*")):
        digest.update(f"{path.parent.name}/{path.name}\0".encode() + path.read_bytes())
    versions = f"{__version__} torch {version('torch')}"
    return StoreKey(digest.hexdigest(), versions, sandbox, derived_key("results of grader grade"))


def without_helpers(entries: Sequence[Entry]) -> list[Entry]:
    """Leave out files that define no exercise where the same student handed in one that does."""
    busy = {entry.student for entry in entries if entry.report.exercises}
    return [entry for entry in entries if entry.report.exercises or entry.student not in busy]


def exit_status(entries: Sequence[Entry]) -> int:
    """0 all passed, 1 otherwise, 3 something could not be graded."""
    if any(entry.ours or entry.report.exit_status == 3 for entry in entries):
        return 3
    return 0 if all(entry.report.exercises and entry.report.exit_status == 0 for entry in entries) else 1

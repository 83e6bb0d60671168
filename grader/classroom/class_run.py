"""Grade every file of a class and store results as they come: a kill at any moment loses no stored result."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import Any, Protocol, TypeVar

from grader.authoring.hidden_cases import cases_digest
from grader.bundle.model import Bundle
from grader.bundle.rules import NO_RULES, Rules
from grader.classroom.discover import SubmittedFile
from grader.classroom.grading_process import (
    RunConfig,
    Task,
    TaskResult,
    names_to_grade,
    results_without_grading,
)
from grader.classroom.roster import Person
from grader.classroom.store import Store, StoreKey
from grader.intake.neighbours import among
from grader.report.model import ExerciseResult, Report
from grader.support.code import code_digest
from grader.support.version import __version__

WARM_FROM = 40  # submissions per process from which a warm worker server (`RunConfig.warm`) saves time

T = TypeVar("T")
Progress = Callable[[int, int], None]  # submissions done, and how many of them were not in the store


class Pool(Protocol):
    """Processes of this machine or workers of a cluster, which grade tasks."""

    def __enter__(self) -> Pool: ...

    def __exit__(self, *error: Any) -> None: ...

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, TaskResult]]:
        """Yield each task with its result, as soon as it is ready."""


@dataclass(frozen=True)
class GradedSubmission:
    """One submission of the class and its report."""

    report: Report
    size: int  # characters of source
    problem: str  # why the file as a whole could not be graded
    grader_failed: bool  # the problem is a fault of the grader or the machine, not of the student
    new: bool  # graded now, not found in the store
    modified: float = 0.0  # when the file was last written, in seconds of the system's clock
    tree: str = ""  # a hash of what the student wrote, without comments and layout; see `own_tree`
    person: Person | None = None  # the student's row in the list of students

    @property
    def student(self) -> str:
        return self.report.extra["student"]

    @property
    def submission(self) -> str:
        return self.report.extra["submission"]


@dataclass
class ClassRun:
    """One call of `grader grade`, from files to graded submissions."""

    found: Sequence[SubmittedFile]
    bundles: Sequence[Bundle]
    config: RunConfig
    pool: Pool
    progress: Progress = lambda done, new: None
    # Per file of `found`: the number of the task that grades it.
    _numbers: list[int] = field(default_factory=list)
    _results: dict[int, TaskResult] = field(default_factory=dict)
    _copies: int = 0  # files that equal an earlier one
    _new: set[int] = field(default_factory=set)  # numbers of tasks that were graded now
    _shared: dict[object, Any] = field(default_factory=dict)  # see `_once`

    def grade(self) -> list[GradedSubmission]:
        """Grade and store everything; return it in the order of `found`. Equal files are graded once."""
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # each process has a core; more threads only spin
        assert self.config.store is not None
        with closing(Store(self.config.store, self.config.key)) as store, self.pool as grading:
            for task, result in grading.run(self._tasks()):
                self._add(task, result, store)
        return list(self._submissions())

    def _add(self, task: Task, result: TaskResult, store: Store) -> None:
        if result.new:
            store.put(result.new)
            self._new.add(task.number)
        self._results[task.number] = replace(result, results=tuple(map(self._small, result.results)), new=())
        self.progress(len(self._results) + self._copies, len(self._new))

    def _small(self, result: ExerciseResult) -> ExerciseResult:
        """Share equal checks and diagnoses with earlier results, to save memory."""
        checks = self._once(tuple(map(self._once, result.checks)))
        return replace(result, checks=checks, diagnosis=self._once(result.diagnosis))

    def _once(self, part: T) -> T:
        return self._shared.setdefault(part, part)

    def _tasks(self) -> Iterator[Task]:
        first: dict[tuple[object, ...], int] = {}
        for number, file in enumerate(self.found):
            beside = tuple((name, digest) for name, (_read, digest) in file.beside.items())
            key = (file.file, file.digest, file.expected, beside)
            can_share = file.digest and not file.problem
            same = first.setdefault(key, number) if can_share else number
            self._numbers.append(same)
            self._copies += same != number
            if file.problem:
                wanted = names_to_grade(self.bundles, self.config.only, file.expected)
                results = results_without_grading(self.bundles, wanted, "blocked", file.problem)
                self._results[number] = TaskResult(tuple(results), problem=file.problem)
            elif same == number:
                readers = {name: read for name, (read, _digest) in file.beside.items()}
                yield Task(number, file.file, file.read, file.expected, among(readers))

    def _submissions(self) -> Iterator[GradedSubmission]:
        seen: set[int] = set()
        for file, number in zip(self.found, self._numbers, strict=True):
            result = self._results[number]
            problem = "" if result.results else result.problem
            report = Report(
                exercises=result.results,
                sandbox=self.config.key.sandbox,
                torch=torch_version(),
                grader=__version__,
                seed="hidden",
                remarks=(*filter(None, (file.remark, problem)), *result.remarks),
                extra={"student": file.student, "submission": file.submission, "content": result.content},
            )
            new = number in self._new and number not in seen  # of equal files, only the first is new
            yield GradedSubmission(
                report, result.size, result.problem, result.grader_failed, new, file.modified, result.tree
            )
            seen.add(number)


def store_key(bundles: Path, sandbox: str, rules: Rules = NO_RULES) -> StoreKey:
    """Return everything that results depend on: cases, code, versions, tier and rules.

    rules: the changes of the course to its exercises.
    """
    digest = hashlib.sha256(repr((cases_digest(bundles), code_digest(), rules.words())).encode())
    return StoreKey(digest.hexdigest(), versions(), sandbox)


def versions() -> str:
    """Return the versions of the grader and of torch."""
    return f"{__version__} torch {torch_version()}"


@cache
def torch_version() -> str:
    """Return the version of torch without importing it; finding it takes a millisecond or more."""
    return version("torch")


def without_helpers(submissions: Sequence[GradedSubmission]) -> list[GradedSubmission]:
    """Leave out entries without exercises if the same student has an entry with exercises.

    In a folder with an assignment's name, this must be an entry with exercises of that assignment.
    Such entries are files that define no exercise, files that cannot be read, and an entry that says how many further
    files were not graded. The problems that `discover` found become remarks on the student's first entry with
    exercises; other problems are dropped. Entries that the grader failed on stay, because it is unknown what they
    define.
    """
    assignments = {result.assignment for one in submissions for result in one.report.exercises}
    graded: dict[str, set[str]] = {}
    for one in submissions:
        if one.report.exercises:
            graded.setdefault(one.student, set()).update(r.assignment for r in one.report.exercises)
    kept: list[GradedSubmission] = []
    problems: dict[str, list[str]] = {}
    for one in submissions:
        named = assignments.intersection(PurePosixPath(one.submission).parts)
        has_others = one.student in graded and named <= graded[one.student]
        if one.report.exercises or one.grader_failed or not has_others:
            kept.append(one)
        elif not one.report.extra["content"]:  # never read: `discover` found a problem
            problems.setdefault(one.student, []).append(one.problem)
    # `pop`: only the first entry of a student gets the problems.
    for place, one in enumerate(kept):
        if one.report.exercises and (added := problems.pop(one.student, [])):
            kept[place] = replace(one, report=replace(one.report, remarks=(*one.report.remarks, *added)))
    return kept


def exit_status(submissions: Sequence[GradedSubmission]) -> int:
    """Return 3 if something could not be graded, 0 if everything passed, otherwise 1."""
    if any(one.grader_failed or one.report.exit_status == 3 for one in submissions):
        return 3
    passed = all(one.report.exercises and one.report.exit_status == 0 for one in submissions)
    return 0 if passed else 1

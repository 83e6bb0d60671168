"""Grade every file of a class and store results as they come: a kill at any moment loses no stored result."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path, PurePosixPath

from grader.authoring.hidden_cases import cases_digest
from grader.bundle.model import NO_RULES, Bundle, Rules
from grader.classroom.discover import SubmittedFile
from grader.classroom.grade import (
    RunConfig,
    Task,
    TaskResult,
    names_to_grade,
    results_without_grading,
)
from grader.classroom.roster import Person
from grader.classroom.store import Store, StoreKey
from grader.report.model import ExerciseResult, Report
from grader.support.code import code_digest
from grader.support.i18n import _
from grader.support.version import __version__

WARM_FROM = 40  # submissions per process from which a warm worker server (`RunConfig.warm`) saves time

GradeTasks = Callable[[Iterable[Task]], Iterator[tuple[Task, TaskResult]]]


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


def grade_found(
    found: Sequence[SubmittedFile],
    bundles: Sequence[Bundle],
    config: RunConfig,
    grade: GradeTasks,
    show: Callable[[int], None] = lambda done: None,
) -> list[GradedSubmission]:
    """Grade and store everything; return it in the order of `found`.

    grade: `run` of a `BoundedGrading` or a `ClusterGrading`. show: called with the number of submissions that are done.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # each process has a core; more threads only spin
    assert config.store is not None
    results = {n: _problem(file, bundles, config) for n, file in enumerate(found) if file.problem}
    tasks = (
        Task(n, file.file, file.read, file.expected, file.beside())
        for n, file in enumerate(found)
        if not file.problem
    )
    new = set[int]()
    with closing(Store(config.store, config.key)) as store:
        for task, result in grade(tasks):
            if result.new:
                store.put(result.new)
                new.add(task.number)
            results[task.number] = replace(result, new=())
            show(len(results))
    return [_submission(file, results[n], config, n in new) for n, file in enumerate(found)]


def _problem(file: SubmittedFile, bundles: Sequence[Bundle], config: RunConfig) -> TaskResult:
    wanted = names_to_grade(bundles, config.only, file.expected)
    results = results_without_grading(bundles, wanted, "blocked", file.problem)
    return TaskResult(tuple(results), problem=file.problem)


def _submission(file: SubmittedFile, result: TaskResult, config: RunConfig, new: bool) -> GradedSubmission:
    problem = "" if result.results else result.problem
    report = Report(
        exercises=result.results,
        sandbox=config.key.sandbox,
        torch=torch_version(),
        grader=__version__,
        seed="hidden",
        remarks=(*filter(None, (file.remark, problem)), *result.remarks),
        extra={"student": file.student, "submission": file.submission, "content": result.content},
    )
    return GradedSubmission(
        report, result.size, result.problem, result.grader_failed, new, file.modified, result.tree
    )


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


IDLE = ("not_started", "blocked")  # outcomes that rank below all others


def one_of_each(entries: Sequence[GradedSubmission], keep: str) -> list[GradedSubmission]:
    """Return the submissions with one result per student and exercise.

    keep: "newest" or "best". An answer that was not started or is blocked counts only if there is no other. Of two
    files with the same time, the better one counts as the newer. If several submissions have an exercise, the one
    that counts gets a remark that names the others. A submission is dropped if it has results and none counts.
    """
    found: dict[tuple[str, str], list[tuple[GradedSubmission, ExerciseResult]]] = {}
    for entry in entries:
        for result in entry.report.exercises:
            found.setdefault((entry.student, result.name), []).append((entry, result))
    chosen = {
        key: max(pairs, key=lambda pair: _rank(pair[0], pair[1], keep))[0] for key, pairs in found.items()
    }
    out = []
    for entry in entries:
        kept = [r for r in entry.report.exercises if chosen[entry.student, r.name] is entry]
        several = [r.name for r in kept if len(found[entry.student, r.name]) > 1]
        others = {
            e.submission for name in several for e, _result in found[entry.student, name] if e is not entry
        }
        remarks = entry.report.remarks
        if others:
            says = _("of several submissions of {exercises} the newest counts; not counted: {others}")
            if keep == "best":
                says = _("of several submissions of {exercises} the best counts; not counted: {others}")
            remarks += (says.format(exercises=", ".join(several), others=", ".join(sorted(others))),)
        if kept or not entry.report.exercises:
            out.append(replace(entry, report=replace(entry.report, exercises=tuple(kept), remarks=remarks)))
    return out


def _rank(entry: GradedSubmission, result: ExerciseResult, keep: str) -> tuple[object, ...]:
    """Rank a result. One without a score counts as full points: with "best", only an answer with full points beats it."""
    score = result.points if result.score is None else result.score
    better = (score, result.score is not None)
    begun = result.outcome not in IDLE
    return (begun, *better, entry.modified) if keep == "best" else (begun, entry.modified, *better)

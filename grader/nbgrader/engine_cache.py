"""Cache one process that grades with hidden cases, because nbgrader makes new preprocessors for every notebook."""

from __future__ import annotations

import atexit
import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from grader.authoring.hidden_cases import SEED_VARIABLE, hidden_folder, seed_file
from grader.bundle.files import load_all
from grader.bundle.model import Bundle, Exercise
from grader.bundle.rules import NO_RULES, PAGE
from grader.classroom.class_run import store_key
from grader.classroom.grade import BoundedGrading, RunConfig, Task, TaskResult
from grader.classroom.groups import FILE as GROUPS
from grader.classroom.groups import Groups, read_groups
from grader.classroom.store import Store, StoreKey
from grader.intake.course import MARK, Course
from grader.report.model import ExerciseResult, Report
from grader.sandbox.choose import best_tier
from grader.support.errors import BadData, UsageError
from grader.support.i18n import _
from grader.support.version import __version__

if TYPE_CHECKING:
    from grader.nbgrader.settings import Headway


@dataclass
class CourseGrader:
    """Grades with the hidden cases of one course, in one tier, outside of this process."""

    bundles: Sequence[Bundle]
    key: StoreKey
    trusted: bool
    grading: BoundedGrading
    groups: Groups = field(default_factory=Groups)  # names and comments for groups of equal wrong answers
    level: int = PAGE  # how much a report may say about a mistake; PAGE: all
    keep: str = "newest"  # which of two submissions of an exercise counts, "newest" or "best"
    # Warnings about groups whose cases have changed since; each is given once.
    stale: list[str] = field(default_factory=list)

    @property
    def exercises(self) -> dict[str, Exercise]:
        return {e.name: e for bundle in self.bundles for e in bundle.exercises}

    def grade(self, task: Task, content: str, store: Path, warn: Callable[[str], None]) -> Report:
        """Return the report on the expected exercises. Only those without a result in the store are graded.

        content: the hash of the file, by which the store has its results. warn: called with sentences for the
        instructor. Raises SandboxError if the tier is not available.
        """
        while self.stale:
            warn(self.stale.pop(0))
        wanted = task.expected
        stored = self._stored(content, wanted, store, warn)
        missing = tuple(name for name in wanted if name not in stored)
        fresh = TaskResult()
        if missing:
            ((_task, fresh),) = self.grading.run([replace(task, expected=missing)])
        for remark in fresh.remarks:
            warn(remark)
        results = {**stored, **{result.name: result for result in fresh.results}}
        report = self.report(
            self.groups.apply([results[name] for name in wanted if name in results], self.level)
        )
        remarks = self._other_assignment(fresh, results, wanted) if missing else ()
        if self.key.sandbox == "basic" and self.trusted:
            remarks = (*remarks, _("graded in the basic sandbox: these submissions are trusted by choice"))
        return replace(report, remarks=remarks)

    def report(self, results: Sequence[ExerciseResult]) -> Report:
        return Report(tuple(results), self.key.sandbox, version("torch"), __version__, "hidden")

    def _other_assignment(
        self, fresh: TaskResult, results: dict[str, ExerciseResult], wanted: Sequence[str]
    ) -> tuple[str, ...]:
        """Return a remark if the notebook answers exercises of other assignments and none of this one."""
        if any(name in wanted for name in fresh.defines) or not fresh.defines:
            return ()
        if any(result.outcome in ("passed", "failed") for result in results.values()):
            return ()
        other = ", ".join(sorted({self.exercises[name].assignment for name in fresh.defines}))
        says = _("this notebook answers exercises of {other} and none of this assignment")
        return (says.format(other=other),)

    def _stored(
        self, content: str, wanted: Sequence[str], path: Path, warn: Callable[[str], None]
    ) -> dict[str, ExerciseResult]:
        if not path.is_file():
            return {}
        try:
            with contextlib.closing(Store(path, self.key)) as store:
                results, damaged = store.get(content, wanted)
        except BadData as bad:
            results, damaged = {}, (str(bad),)
        for sentence in damaged:
            warn(sentence)
        return results


_cached: dict[tuple[object, ...], CourseGrader] = {}  # at most one


def course_grader(settings: Headway, asked: Sequence[str]) -> CourseGrader:
    """Return the grader of these settings and exercises: the cached one, unless anything it is made from changed.

    If `c.Headway.course` is set, hidden cases are recorded only for the assignments of the exercises in
    `asked`, and for those that they build on. Raises UsageError, SandboxError, and GraderError for a missing
    seed or cases that cannot be recorded.
    """
    if not settings.solutions:
        says = _(
            "c.Headway.solutions is not set; `grader course FOLDER` writes it into the course's configuration"
        )
        raise UsageError(says)
    made_from = (*_made_from(settings), frozenset(asked))
    if made_from not in _cached:
        made = _made(settings, asked)
        close()
        _cached[made_from] = made
    return _cached[made_from]


def _made_from(settings: Headway) -> tuple[object, ...]:
    """Return the settings, and time and size of their files. It is quick: it runs for each notebook."""
    with _seed(settings.seed_file):
        seed = seed_file()
    files = [
        *sorted(Path(settings.solutions).rglob("*")),
        Path(settings.course, MARK),
        _home(settings) / GROUPS,
        seed,
    ]
    written = tuple((str(f), f.stat().st_mtime_ns, f.stat().st_size) for f in files if f.exists())
    return settings.sandbox, settings.trusted_submissions, settings.solutions, settings.course, seed, written


def _made(settings: Headway, asked: Sequence[str]) -> CourseGrader:
    says = _(
        "the basic sandbox does not stop a determined attacker: set c.Headway.sandbox to a better one (see grader doctor), or set c.Headway.trusted_submissions"
    )
    tier = best_tier(str(settings.sandbox), "" if settings.trusted_submissions else says)
    solutions = Path(settings.solutions)
    if not solutions.is_dir():
        raise UsageError(_("c.Headway.solutions names {path}, which does not exist").format(path=solutions))
    with _seed(settings.seed_file):
        public = Path(settings.course) if settings.course else None
        cases = hidden_folder(solutions, asked if public else (), public)
        course = Course(public) if public else None
        rules = course.rules if course else NO_RULES
        key = store_key(cases, tier, rules)
    bundles = rules.apply(load_all(cases))
    config = RunConfig(
        cases, store=None, key=key, rules=rules, warm="full"
    )  # warm: imports all of torch first
    grading = BoundedGrading(bundles, config, jobs=1)
    groups = read_groups(_home(settings))
    return CourseGrader(
        bundles,
        key,
        settings.trusted_submissions,
        grading,
        groups,
        rules.level,
        course.settings.keep if course else "newest",
        groups.stale(bundles),
    )


def _home(settings: Headway) -> Path:
    return Path(settings.solutions).parent


def close() -> None:
    """End the process that grades. Safe to call twice."""
    while _cached:
        _key, old = _cached.popitem()
        with contextlib.suppress(Exception):
            old.grading.close()


atexit.register(close)


@contextlib.contextmanager
def _seed(file: str) -> Iterator[None]:
    """Let the environment name the file of the seed until the end of the block; "": leave it."""
    before = os.environ.get(SEED_VARIABLE, "")
    os.environ[SEED_VARIABLE] = file or before
    try:
        yield
    finally:
        os.environ[SEED_VARIABLE] = before

"""Cache one process that grades with hidden cases, because nbgrader makes new preprocessors for every notebook."""

from __future__ import annotations

import atexit
import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path

from traitlets import Bool, Enum, Unicode
from traitlets.config import Configurable

from grader.authoring.hidden_cases import SEED_VARIABLE, hidden_folder, seed_file
from grader.bundle.files import load_all
from grader.bundle.model import NO_RULES, Bundle, Exercise
from grader.classroom.class_run import store_key
from grader.classroom.grade import BoundedGrading, RunConfig, Task, TaskResult, results_without_grading
from grader.classroom.groups import FILE as GROUPS
from grader.classroom.groups import Groups, read_groups
from grader.classroom.store import Store, StoreKey
from grader.intake.course import MARK, Course
from grader.report.model import ExerciseResult, Report
from grader.sandbox.base import AUTO, CHOICES
from grader.sandbox.choose import best_tier
from grader.support.errors import BadData, UsageError
from grader.support.i18n import _
from grader.support.version import __version__


class Headway(Configurable):
    """The settings of an instructor: `c.Headway.…` in nbgrader_config.py. `grader course` writes all except `store`."""

    solutions = Unicode(
        "", help="The folder solutions/ that hidden cases are recorded from: its Python files are run."
    ).tag(config=True)
    seed_file = Unicode(
        "",
        help="The file that holds the secret seed; empty: $HEADWAY_SEED_FILE, or the seed in your configuration folder.",
    ).tag(config=True)
    sandbox = Enum(CHOICES, default_value=AUTO, help="The sandbox in which submissions run.").tag(config=True)
    trusted_submissions = Bool(
        False, help="Allow the basic sandbox, which stops no determined attacker."
    ).tag(config=True)
    course = Unicode(
        "",
        help="The folder whose headway.toml has the course's points, weights and other rules; empty: none.",
    ).tag(config=True)
    store = Unicode(
        "",
        help="The store of `grader grade submitted --store`; empty: the store in your cache folder."
        " A result that is stored there is not graded again.",
    ).tag(config=True)


@dataclass
class CourseGrader:
    """Grades with the hidden cases of one course, in one tier, outside of this process.

    level: how much a report may say about a mistake. keep: which of two submissions of an exercise counts, "newest" or
    "best". warnings: for the instructor; each is given once.
    """

    bundles: Sequence[Bundle]
    key: StoreKey
    grading: BoundedGrading
    groups: Groups
    level: int
    keep: str
    warnings: list[str]

    @property
    def exercises(self) -> dict[str, Exercise]:
        return {e.name: e for bundle in self.bundles for e in bundle.exercises}

    def grade(self, task: Task, warn: Callable[[str], None]) -> Report:
        """Return the report on the expected exercises.

        warn: called with sentences for the instructor. Raises SandboxError if the tier is not available.
        """
        while self.warnings:
            warn(self.warnings.pop(0))
        ((_task, found),) = self.grading.run([task])
        for remark in found.remarks:
            warn(remark)
        remarks = self._other_assignment(found, task.expected)
        if self.key.sandbox == "basic":
            remarks = (*remarks, _("graded in the basic sandbox: these submissions are trusted by choice"))
        return replace(self.report(found.results), remarks=remarks)

    def blocked(self, names: Sequence[str], why: str) -> Report:
        """Return the report on a file that cannot be read."""
        return self.report(results_without_grading(self.bundles, names, "blocked", why))

    def report(self, results: Sequence[ExerciseResult]) -> Report:
        named = self.groups.apply(results, self.level)
        return Report(named, self.key.sandbox, version("torch"), __version__, "hidden")

    def _other_assignment(self, found: TaskResult, wanted: Sequence[str]) -> tuple[str, ...]:
        """Return a remark if the notebook answers exercises of other assignments and none of this one."""
        if any(name in wanted for name in found.defines) or not found.defines:
            return ()
        if any(result.outcome in ("passed", "failed") for result in found.results):
            return ()
        other = ", ".join(sorted({self.exercises[name].assignment for name in found.defines}))
        says = _("this notebook answers exercises of {other} and none of this assignment")
        return (says.format(other=other),)


_cached: dict[tuple[object, ...], CourseGrader] = {}  # at most one


def course_grader(settings: Headway, asked: Sequence[str], store: Path) -> CourseGrader:
    """Return the grader of these settings and exercises: the cached one, unless anything it is made from changed.

    If `c.Headway.course` is set, hidden cases are recorded only for the assignments of the exercises in
    `asked`, and for those that they build on. store: exercises with a result there are not graded again, if it exists.
    Raises UsageError, SandboxError, and GraderError for a missing seed or cases that cannot be recorded.
    """
    if not settings.solutions:
        says = _(
            "c.Headway.solutions is not set; `grader course FOLDER` writes it into the course's configuration"
        )
        raise UsageError(says)
    made_from = (*_made_from(settings), frozenset(asked), store, store.is_file())
    if made_from not in _cached:
        made = _made(settings, asked, store)
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


def _made(settings: Headway, asked: Sequence[str], store: Path) -> CourseGrader:
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
    groups = read_groups(_home(settings))
    warnings = groups.stale(bundles)
    try:
        usable = store if store.is_file() else None
        if usable:
            Store(usable, key).close()
    except BadData as bad:
        usable, warnings = None, [*warnings, str(bad)]
    config = RunConfig(cases, usable, key, rules=rules, warm="training")
    grading = BoundedGrading(bundles, config, jobs=1)
    keep = course.settings.keep if course else "newest"
    return CourseGrader(bundles, key, grading, groups, rules.level, keep, warnings)


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

"""One engine with hidden cases per process: nbgrader makes new preprocessors for every notebook."""

from __future__ import annotations

import atexit
import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from grader.authoring.hidden_cases import SEED_VARIABLE, hidden_folder
from grader.bundle.files import load_all
from grader.bundle.model import Exercise
from grader.bundle.policies import counting
from grader.classroom.class_run import store_key
from grader.classroom.store import BadStore, Store, Stored, StoreKey
from grader.classroom.worker_process import grades_a_plain_file, unjudged
from grader.engine.engine import Engine
from grader.engine.options import GradingOptions
from grader.intake.read import Submission
from grader.nbgrader.lazy_launcher import LazyLauncher
from grader.report.model import Report
from grader.sandbox.choose import BasicTierError, best_tier
from grader.support.errors import GraderError
from grader.support.i18n import _
from grader.support.sanitize import sanitize

if TYPE_CHECKING:
    from grader.nbgrader.settings import Headway


class Refused(GraderError):
    """The settings do not allow grading; the message is a sentence."""


@dataclass
class CourseGrader:
    """Grades with the hidden cases of one course, in one tier."""

    engine: Engine
    key: StoreKey
    trusted: bool

    @property
    def exercises(self) -> dict[str, Exercise]:
        return {e.name: e for bundle in self.engine.bundles for e in bundle.exercises}

    def grade(
        self, submission: Submission, wanted: Sequence[str], store: Path, warn: Callable[[str], None]
    ) -> Report:
        """Grade the wanted exercises that the store has no result of. `warn` gets sentences for the instructor."""
        stored = self._stored(submission, wanted, store, warn)
        for remark in stored.remarks:
            warn(remark)
        known = stored.results
        missing = [name for name in wanted if name not in known]
        fresh = self._graded(submission, missing, warn) if missing else self.engine.report(())
        results = {**known, **{result.name: result for result in fresh.exercises}}
        report = replace(fresh, exercises=tuple(results[name] for name in wanted if name in results))
        if report.sandbox == "basic" and self.trusted:
            remark = _("graded in the basic sandbox: these submissions are trusted by choice")
            report = replace(report, remarks=(*report.remarks, remark))
        return report

    def _graded(self, submission: Submission, wanted: Sequence[str], warn: Callable[[str], None]) -> Report:
        """Grade; where that fails over this submission alone, the exercises fail. Raises what a plain file raises."""
        try:
            return self.engine.grade(submission, wanted)
        except Exception as error:
            self.engine.close()
            if not grades_a_plain_file(self.engine, wanted):
                raise
            said = sanitize(f"{type(error).__name__}: {error}", 300)
            found = unjudged(self.engine.bundles, wanted, submission.content, 0, said)
            for remark in found.remarks:
                warn(remark)
            return self.engine.report(found.results)

    def _stored(
        self, submission: Submission, wanted: Sequence[str], path: Path, warn: Callable[[str], None]
    ) -> Stored:
        if not path.is_file():
            return Stored()
        try:
            store = Store(path, self.key)
        except BadStore as bad:
            warn(str(bad))
            return Stored()
        try:
            return store.get(submission.content, wanted)
        finally:
            store.close()


_cached: dict[tuple[object, ...], CourseGrader] = {}


def course_grader(settings: Headway) -> CourseGrader:
    """Return the grader for these settings; it is used again until something that it is made from changes.

    Raises Refused, SandboxError, and GraderError for a missing seed or cases that cannot be recorded.
    """
    made_from = _made_from(settings)
    if made_from not in _cached:
        made = _made(settings)
        close()
        _cached[made_from] = made
    return _cached[made_from]


def _made_from(settings: Headway) -> tuple[object, ...]:
    """Quick to look at for every notebook: the settings, and when the files were written that they name."""
    with _seed(settings.seed_file):
        named = os.environ.get(SEED_VARIABLE, "")
    files = [*sorted(Path(settings.solutions).rglob("*")), Path(named)]
    written = tuple((str(f), f.stat().st_mtime_ns, f.stat().st_size) for f in files if f.exists())
    counted = tuple(settings.policies_that_count)
    return settings.sandbox, settings.trusted_submissions, settings.solutions, counted, named, written


def _made(settings: Headway) -> CourseGrader:
    tier = _tier(settings)
    solutions = Path(settings.solutions)
    if not solutions.is_dir():
        raise Refused(_("c.Headway.solutions names {path}, which is not there").format(path=solutions))
    with _seed(settings.seed_file):
        cases = hidden_folder(solutions)
        key = store_key(cases, tier, settings.policies_that_count)
    bundles = counting(load_all(cases), settings.policies_that_count)
    engine = Engine(bundles, LazyLauncher(tier), GradingOptions(hidden=True, torch_version=version("torch")))
    return CourseGrader(engine, key, settings.trusted_submissions)


def close() -> None:
    """End all workers and launchers. Safe to call twice."""
    while _cached:
        _key, old = _cached.popitem()
        for part in (old.engine, old.engine.launcher):
            with contextlib.suppress(Exception):
                part.close()


atexit.register(close)


def _tier(settings: Headway) -> str:
    try:
        return best_tier(str(settings.sandbox), trusted=bool(settings.trusted_submissions))
    except BasicTierError:
        raise Refused(
            _(
                "the basic sandbox does not stop a determined attacker: set c.Headway.sandbox to a better one (see grader doctor), or set c.Headway.trusted_submissions"
            )
        ) from None


@contextlib.contextmanager
def _seed(file: str) -> Iterator[None]:
    before = os.environ.get(SEED_VARIABLE)
    if file:
        os.environ[SEED_VARIABLE] = file
    try:
        yield
    finally:
        if file:
            os.environ.pop(SEED_VARIABLE)
            if before is not None:
                os.environ[SEED_VARIABLE] = before

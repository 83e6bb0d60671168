"""Show the public checks as test items when `pytest` runs in a course folder (one with `headway.toml`).

Elsewhere the plugin does nothing, and imports no other module of the grader.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from grader.engine.engine import Engine
    from grader.intake.course import Course
    from grader.report.model import CheckResult, ExerciseResult

MARK = "headway.toml"


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect the checks of a student's module. `intake.course.choose` may choose the notebook beside it instead."""
    root = file_path.parent.parent
    if file_path.suffix == ".py" and (root / MARK).is_file() and (file_path.parent / "bundle.json").is_file():
        return StudentFile.from_parent(parent, path=file_path)
    return None


def pytest_unconfigure(config: pytest.Config) -> None:
    if _RUN in config.stash:
        config.stash[_RUN].opened.close()


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Show the advice, and the remarks on files, after the result of the run. They cost no points."""
    run = config.stash.get(_RUN, None)
    if run is None or not (run.advised or run.remarks):
        return
    from grader.report.shared_sentences import advice_given
    from grader.support.i18n import _

    terminalreporter.section(_("advice, which costs no points"))
    for names, (first, *rest) in advice_given(run.advised):
        terminalreporter.line(f"{names}: {first}")
        for line in rest:
            terminalreporter.line(f"  {line}")
    for remark in run.remarks:
        terminalreporter.line(remark)


@dataclass
class _Run:
    """What the files of one run of pytest share. courses: folder → the course there, and its engine."""

    opened: ExitStack = field(default_factory=ExitStack)
    courses: dict[Path, tuple[Course, Engine]] = field(default_factory=dict)
    advised: list[ExerciseResult] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def course_in(self, root: Path) -> tuple[Course, Engine]:
        from importlib.metadata import version

        from grader.engine.engine import Engine
        from grader.engine.grade_exercise import FOLDER
        from grader.engine.grading import GradingOptions
        from grader.intake.course import Course
        from grader.sandbox.choose import choose

        if root not in self.courses:
            course = Course(root)
            options = GradingOptions(torch_version=version("torch"), cache=root / FOLDER)
            launcher = choose()
            self.opened.callback(launcher.close)
            self.courses[root] = course, Engine(course.bundles, launcher, options)
        return self.courses[root]


_RUN: pytest.StashKey[_Run] = pytest.StashKey()


class CheckFailed(Exception):
    """A check did not pass; the message is the text to show."""


class StudentFile(pytest.File):
    """One assignment of the course, graded when it is collected."""

    def collect(self) -> Iterator[pytest.Item]:
        from grader.support.errors import GraderError

        try:
            results = self._results(self.config.stash.setdefault(_RUN, _Run()))
        except GraderError as error:
            raise self.CollectError(str(error)) from None
        for result in results:
            for check in result.checks or (None,):
                name = f"{result.name}::{check.id}" if check else result.name
                yield CheckItem.from_parent(self, name=name, result=result, check=check)

    def _results(self, run: _Run) -> Sequence[ExerciseResult]:
        from grader.student.check import grade_assignment

        course, engine = run.course_in(self.path.parent.parent)
        bundle = next(b for b in course.bundles if course.folder_of(b) == self.path.parent)
        if self.path.stem != bundle.module:
            return ()
        names = [exercise.name for exercise in bundle.exercises]
        try:
            _source, report = grade_assignment(engine, course, bundle, names)
        finally:
            engine.close()  # no worker is left while the items run
        run.remarks += report.remarks
        run.advised += [result for result in report.exercises if result.advice]
        return report.exercises


class CheckItem(pytest.Item):
    """One check, or one exercise without checks."""

    def __init__(self, *, result: ExerciseResult, check: CheckResult | None, **kwargs: Any):
        super().__init__(**kwargs)
        self.result, self.check = result, check

    def runtest(self) -> None:
        from grader.report.shared_sentences import outcome_name

        if self.result.outcome == "not_started":
            pytest.skip(outcome_name("not_started"))
        if self.result.outcome == "could_not_grade":
            pytest.skip(f"{outcome_name('could_not_grade')}: {self.result.message}")
        if self.check is None:
            if self.result.outcome != "passed":
                raise CheckFailed(self.result.message)
        elif self.check.outcome == "skipped":
            pytest.skip(self.check.message)
        elif self.check.outcome not in ("passed", "advice"):
            raise CheckFailed(_text(self.check, self.result))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str:
        if isinstance(excinfo.value, CheckFailed):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo, style))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        title = self.check.title if self.check else self.result.title
        return self.path, None, f"{self.result.name}: {title}"


def _text(check: CheckResult, result: ExerciseResult) -> str:
    from grader.report.shared_sentences import diagnosis_lead
    from grader.support.i18n import _

    lead, says = diagnosis_lead(result.diagnosis.kind), result.diagnosis.says
    parts = [
        check.message,
        _("where: {place}").format(place=check.where) if check.where else "",
        f"{_('expected')}:\n{check.expected}" if check.expected else "",
        f"{_('got')}:\n{check.got}" if check.got else "",
        f"{lead}: {says}" if lead and says else says,
    ]
    return "\n".join(filter(None, parts))

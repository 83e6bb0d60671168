"""Grade submissions with the bundles of one course: case → worker → observation → judge → report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader.bundle.model import Bundle, RecordedCase
from grader.diagnosis.facts import of_sizes
from grader.engine.file_remarks import file_remarks, imports_added, is_faulty
from grader.engine.grade_exercise import grade_exercise
from grader.engine.grade_once import after_exception
from grader.engine.interface import Source
from grader.engine.lease import Workers
from grader.engine.session import WorkerGone
from grader.engine.student_parts import Part
from grader.engine.submission_run import DEFAULTS, Context, GradingOptions, SubmissionRun
from grader.engine.visibility import order_for_worker_reuse
from grader.intake.names import Definition, Names, read_names
from grader.intake.read import Submission, Unit
from grader.intake.recognise import lost_exercises, match
from grader.judge.exceptions import of_error
from grader.judge.observation import StudentError
from grader.report.model import ExerciseResult, Report
from grader.report.writer import PUBLIC
from grader.sandbox.base import Launcher, SandboxError
from grader.support.errors import GraderError
from grader.support.version import __version__


@dataclass(frozen=True)
class Raised:
    """An exception in a case, and the line that raised it, as text. facts: sentences on where two sizes come from, if it
    is about two that do not match.
    """

    says: str
    where: str
    facts: tuple[str, ...]


class Engine:
    """Grades with one launcher and the bundles of one course, public or hidden.

    The fields of an engine never change; `with_options` makes another engine, which shares the worker.
    """

    def __init__(
        self,
        bundles: Sequence[Bundle],
        launcher: Launcher,
        options: GradingOptions = DEFAULTS,
        workers: Workers | None = None,
    ):
        self.bundles = bundles
        self.launcher = launcher
        self.options = options
        self.exercises = {e.name: e for b in bundles for e in b.exercises}
        stubs = stubs_of(bundles)
        self.context = Context(
            exercises=self.exercises,
            contracts=contracts_of(bundles, stubs),
            stubs=stubs,
            workers=workers or Workers(launcher, options.device, options.reuse_worker),
            options=options,
        )

    def with_options(self, **changes: Any) -> Engine:
        """Return an engine with these fields of `GradingOptions` changed, and with the same tables and worker."""
        engine = copy(self)
        engine.options = replace(self.options, **changes)
        engine.context = replace(self.context, options=engine.options)
        return engine

    @property
    def contracts(self) -> Mapping[str, Definition]:
        """Return exercise → its definition in the original stub."""
        return self.context.contracts

    def known(self, submission: Submission) -> dict[str, str]:
        """Return exercise → the name it has in the submission, for every known exercise that the submission defines.

        Definitions with a syntax error are included, except under a name in `recognise.COMMON`.
        """
        return known(self.contracts, read_names(submission))

    def grade(
        self, submission: Submission, wanted: Sequence[str] | None = None, parts: Sequence[Part] = ()
    ) -> Report:
        """Grade the known exercises of a submission, or those `wanted`; report them in the order of the course.

        They are graded in another order, which needs few workers. A wanted exercise that is not defined is *blocked*.
        parts: the author's earlier files; the model of the capstone is made of definitions in them.
        If another exception than GraderError stops the grading, all exercises of the course (or those `wanted`) fail;
        if the grader cannot grade a plain file either, they could not be graded. Raises GraderError.
        """
        try:
            return self._grade(submission, wanted, parts)
        except GraderError:
            raise
        except Exception as error:
            run = SubmissionRun(self.context, submission, Names({}))
            exercises = [e for name, e in self.exercises.items() if wanted is None or name in wanted]
            return self.report([after_exception(run, exercise, error) for exercise in exercises])

    def _grade(self, submission: Submission, wanted: Sequence[str] | None, parts: Sequence[Part]) -> Report:
        run = SubmissionRun(self.context, submission, read_names(submission), tuple(parts))
        names = known(self.contracts, run.names) if wanted is None else wanted
        exercises = [exercise for name, exercise in self.exercises.items() if name in names]
        for exercise in order_for_worker_reuse(exercises):
            self.options.on_exercise(exercise.name)
            grade_exercise(run, exercise)
        report = self.report([run.done[exercise.name] for exercise in exercises])
        return replace(report, remarks=file_remarks(run, exercises), faulty=is_faulty(run))

    def with_imports(
        self, submission: Submission, results: Sequence[ExerciseResult]
    ) -> tuple[ExerciseResult, ...]:
        """Give each result a remark on the imports that were added for it, as reports of a class have no others."""
        run = SubmissionRun(self.context, submission, read_names(submission))
        return tuple(
            replace(result, remarks=(*imports_added(run, [self.exercises[result.name]]), *result.remarks))
            for result in results
        )

    def raised(self, submission: Submission, exercise: str, alias: str) -> Raised | None:
        """Return the first exception of the definition `alias` in a line of the student's files.

        None if no case of `exercise` raises one, if the code does not load, and if the cases are hidden.
        """
        if self.options.hidden:
            return None
        run = SubmissionRun(self.context, submission, read_names(submission))
        run.aliases[exercise] = alias
        workers, found = self.context.workers, list[tuple[StudentError, RecordedCase]]()
        try:
            lease = workers.lease(run.request(self.exercises[exercise], ()))
            lease.load()
            for case in lease.request.exercise.cases:
                error = lease.observe(case).error
                if error is not None and error.where is not None:
                    found.append((error, case))
        except (WorkerGone, SandboxError):
            workers.close()
        if not found:
            return None
        finding, facts = of_error(found[0][0]), map(PUBLIC.sentence, of_sizes(found))
        return Raised(PUBLIC.sentence(finding), PUBLIC.where(finding), tuple(facts))

    def report(self, results: Sequence[ExerciseResult]) -> Report:
        """Put results into a report that names the sandbox, the versions and the seed."""
        return Report(
            exercises=tuple(results),
            sandbox=self.launcher.tier,
            torch=self.options.torch_version,
            grader=__version__,
            seed="hidden" if self.options.hidden else "public",
        )

    def close(self) -> None:
        """End the worker, not the launcher. Safe to call twice."""
        self.context.workers.close()


def known(contracts: Mapping[str, Definition], names: Names) -> dict[str, str]:
    """Return exercise → the name it has among these names of a submission; see `Engine.known`."""
    # A definition that Python can read wins over one with a syntax error.
    return lost_exercises(contracts, names) | match(contracts, names)


def stubs_of(bundles: Sequence[Bundle]) -> dict[str, Source]:
    """Return assignment → its original stub."""
    stubs = {}
    for bundle in bundles:
        name = f"{bundle.module}.py"
        stub = Submission(Path(name), (Unit(name, bundle.stub),))
        stubs[bundle.assignment] = Source(stub, read_names(stub))
    return stubs


def contracts_of(bundles: Sequence[Bundle], stubs: Mapping[str, Source]) -> dict[str, Definition]:
    """Return exercise → its definition in the original stub. stubs: as `stubs_of` returns them."""
    return {e.name: stubs[b.assignment].names.definitions[e.name] for b in bundles for e in b.exercises}

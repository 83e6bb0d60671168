"""Grade submissions with the bundles of one course: case → worker → observation → judge → report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

from grader.bundle.model import Bundle, Exercise
from grader.engine.attempt import after_exception, fault_of_the_grader
from grader.engine.grade_exercise import grade_exercise
from grader.engine.grading import DEFAULTS, Context, Grading, GradingOptions
from grader.engine.interface import way_to_be_graded
from grader.engine.lease import Workers
from grader.engine.load_notes import file_remarks, imports_added, is_faulty
from grader.engine.load_request import offering, order_for_worker_reuse
from grader.engine.student_file import CourseTables, Part, StudentFile, school_fits, student_file
from grader.intake.names import Definition, Names, read_names
from grader.intake.read import Submission
from grader.intake.recognise import lost_exercises, match
from grader.report.finding import PUBLIC, Fact
from grader.report.model import ExerciseResult, Report
from grader.sandbox.base import Launcher
from grader.support.errors import GraderError
from grader.support.sanitize import sanitize
from grader.support.version import __version__


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
        workers = workers or Workers(launcher, options.device, options.reuse_worker)
        self.bundles = bundles
        self.launcher = launcher
        self.context = Context(CourseTables.of(bundles), workers, options)

    @property
    def options(self) -> GradingOptions:
        return self.context.options

    @property
    def exercises(self) -> Mapping[str, Exercise]:
        return self.context.course.exercises

    def with_options(self, **changes: Any) -> Engine:
        """Return an engine with these fields of `GradingOptions` changed, and with the same tables and worker."""
        engine = copy(self)
        engine.context = replace(self.context, options=replace(self.options, **changes))
        return engine

    @property
    def schools(self) -> bool:
        """Whether a class in a form of another school is graded in it."""
        own = any(exercise.other_forms for exercise in self.exercises.values())
        return own or self.options.terms.may_be_of_schools

    @property
    def contracts(self) -> Mapping[str, Definition]:
        """Return exercise → its definition in the original stub."""
        return self.context.course.contracts

    def known(self, submission: Submission) -> dict[str, str]:
        """Return exercise → the name it has in the submission, for every known exercise that the submission defines.

        Definitions with a syntax error are included, except under a name in `recognise.COMMON`.
        """
        names, course = read_names(submission), self.context.course
        return known(course.contracts, names, school_fits(course, names, self.schools))

    def way_to_be_graded(self, exercise: str, name: str, names: Names) -> Fact | None:
        """Return how code with another name differs from an exercise, and what to do; None if only its name differs."""
        asked, course = self.exercises[exercise], self.context.course
        return way_to_be_graded(asked, name, names, course.stubs[asked.assignment])

    def grade(
        self, submission: Submission, wanted: Sequence[str] | None = None, parts: Sequence[Part] = ()
    ) -> Report:
        """Grade the known exercises of a submission, or those `wanted`; report them in the order of the course.

        They are graded in another order, which needs few workers. A wanted exercise that is not defined is *blocked*.
        parts: the author's earlier files; the model of the capstone is made of definitions in them.
        If another exception than GraderError stops the grading, all exercises of the course (or those `wanted`) fail;
        if the grader cannot grade a plain file either, they could not be graded. Raises GraderError.
        """
        grading, course = Grading(self.context), self.context.course
        try:
            if self.options.terms.offers_blocks:
                course = offering(course, read_names(submission))
            file = student_file(course, submission, parts, self.schools)
            names = lost_exercises(course.contracts, file.names) | file.aliases if wanted is None else wanted
            exercises = [exercise for name, exercise in course.exercises.items() if name in names]
            for exercise in order_for_worker_reuse(exercises):
                self.options.on_exercise(exercise.name)
                grade_exercise(grading, file, exercise)
            notes = grading.notes.get(file, ())
            results = [grading.results[file, exercise.name] for exercise in exercises]
            failed = [self.exercises[result.name] for result in results if result.outcome == "failed"]
            remarks = as_sentences(file_remarks(file, notes, exercises, self.options.terms, failed))
            report = self.report(results)
            return replace(report, remarks=remarks, faulty=is_faulty(file, notes))
        except GraderError:
            raise
        except Exception as error:
            unread = StudentFile(course, submission, Names((), {}))
            lost = [e for name, e in course.exercises.items() if wanted is None or name in wanted]
            return self.report([after_exception(grading, unread, exercise, error) for exercise in lost])

    def grades_a_plain_file(self, names: Sequence[str]) -> bool:
        """Whether the engine can grade these exercises of a plain file. If not, a failure is the grader's own."""
        exercises = (self.exercises[name] for name in names)
        return not any(fault_of_the_grader(self.context, exercise) for exercise in exercises)

    def with_imports(
        self, submission: Submission, results: Sequence[ExerciseResult]
    ) -> tuple[ExerciseResult, ...]:
        """Give each result a remark on the imports that were added for it, as reports of a class have no others."""
        file, terms = student_file(self.context.course, submission), self.options.terms
        added = [imports_added(file, [self.exercises[result.name]], terms) for result in results]
        return tuple(
            replace(result, remarks=(*as_sentences(imports), *result.remarks))
            for result, imports in zip(results, added, strict=True)
        )

    def report(self, results: Sequence[ExerciseResult]) -> Report:
        """Put results into a report that names the sandbox, the versions and the seed."""
        return Report(
            exercises=tuple(results),
            sandbox=self.launcher.tier,
            torch=self.options.torch_version,
            grader=__version__,
            seed=self.options.terms.seed,
        )

    def close(self) -> None:
        """End the worker, not the launcher. Safe to call twice."""
        self.context.workers.close()


def as_sentences(facts: Iterable[Fact]) -> tuple[str, ...]:
    """Return remarks on a file as text. They are from its text, or from loading it before any case ran."""
    return tuple(sanitize(PUBLIC.sentence(fact), 600) for fact in facts)


def known(
    contracts: Mapping[str, Definition], names: Names, *fits_school: Callable[[str, str], bool]
) -> dict[str, str]:
    """Return exercise → the name it has among these names of a submission; see `Engine.known`."""
    # A definition that Python can read wins over one with a syntax error.
    return lost_exercises(contracts, names) | match(contracts, names, *fits_school)

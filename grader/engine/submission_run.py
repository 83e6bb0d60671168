"""Grade one submission, exercise by exercise: case → worker → observation → judge → diagnosis."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from grader.bundle.model import Exercise, RecordedCase
from grader.diagnosis.facts import Fact
from grader.diagnosis.sizes import of_sizes
from grader.engine.case_checks import off_last, skipped, without_off
from grader.engine.code_excerpt import code
from grader.engine.context import Context
from grader.engine.interface import Interface, Source, interface, takes_mask
from grader.engine.load_request import History, LoadRequest, case_timeout, limits
from grader.engine.loading import (
    defined_name,
    definition_errors,
    files_used,
    has_errors,
    imports_added,
    load_remarks,
    own_notes,
    summary_of_skipped,
)
from grader.engine.messages import place_of
from grader.engine.missing_modules import blamed, is_package, missing_names, needs_gpu, of_gpu, of_missing
from grader.engine.plain_file import plain_file, raised_at
from grader.engine.post_training import examined
from grader.engine.result import ResultBuilder, blocked_by
from grader.engine.session import WorkerGone
from grader.engine.slip_remarks import with_slips
from grader.engine.student_blocks import Block, bound_names, keywords_of, remarks_on_faulty, student_blocks
from grader.engine.student_parts import Part, content, parts_remark
from grader.engine.visibility import visible_blocks, with_requirements
from grader.engine.when_to_cache import cached, keep
from grader.engine.worker_slot import CannotLoad
from grader.given import source
from grader.intake.names import Names, read_names, untouched
from grader.intake.needs import needs
from grader.intake.parameters import has_no_code
from grader.intake.read import Submission
from grader.intake.recognise import match
from grader.judge.finding import Finding
from grader.judge.normalise import normalise_layouts
from grader.judge.observation import Observation, StudentError
from grader.judge.redact import Evidence, redact
from grader.judge.verdict import Budget, JudgedCase, judge_case, lost_case, of_error, unseen_case
from grader.report.model import CheckOutcome, ExerciseResult
from grader.sandbox.base import SandboxError
from grader.support.i18n import _
from grader.support.sanitize import sanitize

UNUSABLE = ("failed", "blocked", "not_started")  # outcomes of a part that another exercise cannot build on


@dataclass(frozen=True)
class Raised:
    """An exception in a case, and the origin of the sizes in it, if it is about two that do not match."""

    finding: Finding
    facts: tuple[Fact, ...]


@dataclass
class SubmissionRun:
    """One submission being graded."""

    context: Context
    submission: Submission
    names: Names
    parts: tuple[Part, ...] = ()
    done: dict[str, ExerciseResult] = field(default_factory=dict)
    earlier: dict[str, SubmissionRun] = field(default_factory=dict)
    neighbours: dict[str, SubmissionRun] = field(default_factory=dict)
    history: History = field(default_factory=History)
    needed: dict[str, frozenset[str]] = field(default_factory=dict)
    interfaces: dict[tuple[str, str], Interface] = field(default_factory=dict)
    unsteady: set[str] = field(
        default_factory=set
    )  # exercises whose result may be chance, because workers were lost

    def __post_init__(self) -> None:
        self.aliases = match(self.context.contracts, self.names)

    def grade(self, exercise: Exercise) -> ExerciseResult:
        """Grade one exercise; if a building block of the student is wrong, once more with the reference block."""
        if exercise.name not in self.done:
            known = cached(self.context, content(self.submission, self.parts), exercise)
            self.done[exercise.name] = known or self._anew(exercise)
        return self.done[exercise.name]

    def is_faulty(self, exercises: Sequence[Exercise]) -> bool:
        """Whether the file would not run by itself: syntax errors, statements that raise, imports that are missing."""
        needed, blocks = self._needs_of(exercises)
        missing = imports_added(self.submission, blocks, needed)
        return bool(self.names.faults or missing) or has_errors(self.history.notes)

    def _needs_of(self, exercises: Sequence[Exercise]) -> tuple[frozenset[str], frozenset[str]]:
        """The names that exercises need, and the building blocks that they may use."""
        bound = [self.aliases.get(exercise.name, exercise.name) for exercise in exercises]
        needed = frozenset().union(*map(self._needs, bound))
        return needed, frozenset().union(*(visible_blocks(exercise) for exercise in exercises))

    def remarks(self, exercises: Sequence[Exercise]) -> tuple[str, ...]:
        """Sentences about imports that were added, other files that were used, and statements that were skipped."""
        needed, blocks = self._needs_of(exercises)
        notes = self.history.notes
        added = imports_added(self.submission, blocks, needed)
        return (*added, *files_used(notes), *summary_of_skipped(notes, needed))

    def _anew(self, exercise: Exercise) -> ExerciseResult:
        before = self._lost()
        result = self._retry_with_reference_blocks(exercise, self.once(exercise, ()))
        if result.outcome == "failed":
            result = self._blocked(exercise, result)
        if self._lost() > before or any(name in run.unsteady for name, run in student_blocks(self, exercise)):
            self.unsteady.add(exercise.name)
        elif result.outcome in ("passed", "failed") and not result.partial:
            keep(self.context, content(self.submission, self.parts), exercise, result)
        return result

    def _lost(self) -> int:
        """The number of workers lost so far over this file and the others of the student."""
        beside = sum(run.history.lost for run in self.neighbours.values())
        return self.history.lost + beside + sum(run._lost() for run in self.earlier.values())

    def _retry_with_reference_blocks(self, exercise: Exercise, result: ExerciseResult) -> ExerciseResult:
        wanting = self.context.options.foreign and result.outcome == "could_not_grade"
        if result.outcome != "failed" and not wanting:
            return result
        if exercise.is_made_of_parts and not _by_parts(exercise, result):
            return result
        own = student_blocks(self, exercise)
        faulty = [
            (name, run)
            for name, run in own
            if run.grade(self.context.exercises[name]).outcome in (*UNUSABLE, "could_not_grade")
        ]
        again = self._with_reference_blocks(exercise, result, faulty, remarks_on_faulty(self, faulty))
        again = self._without_other_interfaces(exercise, again, own, faulty)
        if again is not result:
            used, parts = self._used_exercises(exercise), exercise.is_made_of_parts
            first = [name for name, run in faulty if parts or (run is self and name in used)]
            again = replace(again, fix_first=tuple(first))
        if not exercise.is_made_of_parts or not _by_parts(exercise, again) or len(faulty) == len(own):
            return again
        says = _(
            "your parts ({blocks}) pass separately but fail together; graded with the reference parts instead;"
            " one possible reason is a decoder that restarts its positions in prediction"
        )
        remark = says.format(blocks=", ".join(name for name, _run in own))
        return self._with_reference_blocks(exercise, again, own, [remark])

    def _with_reference_blocks(
        self, exercise: Exercise, result: ExerciseResult, blocks: Sequence[Block], remarks: Sequence[str]
    ) -> ExerciseResult:
        """Try again with reference blocks in the place of `blocks`. Return the new result unless it is worse."""
        if not blocks:
            return result
        again = self.once(exercise, tuple(name for name, _run in blocks))
        if again.score is None or (exercise.is_made_of_parts and again.score < (result.score or 0)):
            return result
        if again.checks == result.checks:
            return result  # it does not use them
        again = replace(again, score=max(again.score, result.score or 0))  # a second try costs nothing
        return replace(
            again,
            remarks=(*again.remarks, *remarks),
            seconds=again.seconds + result.seconds,
            replaced=tuple(name for name, _run in blocks),
        )

    def _without_other_interfaces(
        self, exercise: Exercise, result: ExerciseResult, own: Sequence[Block], faulty: Sequence[Block]
    ) -> ExerciseResult:
        """Try again with reference blocks for neighbours with another interface. Return the result if it passes."""
        others = [(name, run) for name, run in own if run is not self and name in run.done]
        others = [(name, run) for name, run in others if run.done[name].outcome == "other_interface"]
        if exercise.is_made_of_parts or not others or result.outcome == "passed":
            return result
        blocks = [*faulty, *others]
        again = self._with_reference_blocks(exercise, result, blocks, remarks_on_faulty(self, blocks))
        return again if again.outcome == "passed" else result

    def of(self, submission: Submission, neighbours: dict[str, SubmissionRun] | None = None) -> SubmissionRun:
        """Return a run of another file of the same student."""
        found = read_names(submission)
        return SubmissionRun(
            self.context, submission, found, neighbours={} if neighbours is None else neighbours
        )

    def _blocked(self, exercise: Exercise, result: ExerciseResult) -> ExerciseResult:
        """A failed result as *blocked*, if the exercise uses another one that fails and that no block replaces."""
        for name in self._used_exercises(exercise):
            other = self.context.exercises[name]
            if name not in exercise.given and self.grade(other).outcome in UNUSABLE:
                return blocked_by(result, self.done[name])
        return result

    def _used_exercises(self, exercise: Exercise) -> list[str]:
        """The earlier exercises that the submission defines and uses in this one, in the order of the course."""
        order = list(self.context.exercises)
        used = self._needs(self.aliases.get(exercise.name, exercise.name))
        earlier = order[: order.index(exercise.name)]
        return [name for name in earlier if name in self.aliases and self.aliases[name] in used]

    def _needs(self, name: str) -> frozenset[str]:
        """The names of this file that a definition needs."""
        if name not in self.needed:
            self.needed[name] = needs(self.submission, self.names, name)
        return self.needed[name]

    def raised(self, exercise: Exercise) -> Raised | None:
        """The first exception in a line of this file, in public cases; None if there is none, or the code does not load."""
        if self.context.options.hidden:
            return None
        request = self.request(exercise, ())
        try:
            for case in exercise.cases:
                error = self.context.slot.observe(request, case).error
                if error is not None and error.where is not None:
                    return Raised(of_error(error), tuple(of_sizes(error, case)))
        except (CannotLoad, WorkerGone, SandboxError):
            self.context.slot.close()
        return None

    # ---- one try

    def once(self, exercise: Exercise, replaced: tuple[str, ...]) -> ExerciseResult:
        """Grade one exercise once. Results of hidden cases are redacted here and nowhere else.

        The submission may cause an exception while it is judged; that must not excuse it. So the exercise is tried
        again in a new worker. If it raises again, a plain file is graded: the grader is at fault only if that fails
        too.
        """
        try:
            return self._with_slips(exercise, replaced)
        except Exception:
            self.context.slot.close()
        try:
            return self._with_slips(exercise, replaced)
        except Exception as error:
            return self.after_exception(exercise, error)

    def _with_slips(self, exercise: Exercise, replaced: tuple[str, ...]) -> ExerciseResult:
        result, evidence = self._built(exercise, replaced)
        shown = self._redacted(result, evidence)
        # At level 0 the slip may be the answer; and a file with a repair defines the broken class too.
        if exercise.level:
            alias = self.aliases.get(exercise.name, exercise.name)
            shown = with_slips(shown, self.submission, alias, evidence.codes)
        return shown if self.context.options.hidden else self._with_code(shown)

    def _redacted(self, result: ExerciseResult, evidence: Evidence) -> ExerciseResult:
        return redact(result, evidence) if self.context.options.hidden else result

    def _with_code(self, result: ExerciseResult) -> ExerciseResult:
        if result.outcome not in ("failed", "blocked", "other_interface"):
            return result
        definition = self.names.definitions.get(self.aliases.get(result.name, result.name))
        return replace(result, code=code(result, self.submission, definition))

    def after_exception(self, exercise: Exercise, error: Exception) -> ExerciseResult:
        """Return *failed* if a plain file is graded without an exception; *could not be graded* otherwise."""
        self.context.slot.close()
        return self._redacted(*self._after_exception(exercise, error))

    def _after_exception(self, exercise: Exercise, error: Exception) -> tuple[ExerciseResult, Evidence]:
        raised = raised_at(error)
        alias = self.aliases.get(exercise.name, exercise.name)
        builder = ResultBuilder(exercise, self.submission, alias, time.monotonic())
        plain = plain_file(exercise)
        try:
            result, _evidence = SubmissionRun(self.context, plain, read_names(plain))._built(exercise, ())
            works = result.outcome != "could_not_grade"
        except Exception:
            works = False
        if not works:
            return builder.without_checks(
                "could_not_grade", _("the grader failed: {error}").format(error=raised)
            )
        return builder.unjudged(
            _(
                "for the instructor: the grader raised {error} while it judged this submission, not over a plain file"
            ).format(error=raised)
        )

    def _built(self, exercise: Exercise, replaced: tuple[str, ...]) -> tuple[ExerciseResult, Evidence]:
        """One try at an exercise: read the text, load the file, run and judge the cases."""
        options = self.context.options
        alias = self.aliases.get(exercise.name, exercise.name)
        builder = ResultBuilder(exercise, self.submission, alias, time.monotonic(), options.quick)
        remarks = []
        if alias != exercise.name:
            remarks.append(self._renamed(alias, exercise.name))
        fits = self._interface(exercise, alias)
        if early := self._from_text(exercise, builder, (*remarks, *fits.remarks)):
            return early
        remarks += fits.remarks
        try:
            request = self.request(exercise, replaced)
            loaded = self.context.slot.load(request)
            bound = defined_name(request, loaded, self.names)
            if bound != self.aliases.get(exercise.name):
                self.aliases[exercise.name] = bound
                request = self.request(exercise, replaced)
        except CannotLoad as why:
            errors = definition_errors(own_notes(self.history.notes, self.submission), alias)
            return self._for_want_of(exercise, builder, errors, remarks) or builder.without_checks(
                "blocked", str(why), remarks
            )
        except SandboxError as error:
            return builder.without_checks("could_not_grade", str(error))
        needed = self._needs(self.aliases[exercise.name])
        remarks += load_remarks(self.history.notes, needed, request.visible_blocks)
        if exercise.is_made_of_parts:
            known = [name for name in exercise.given if name in self.context.exercises]
            remarks.append(parts_remark(loaded.own, known))
        if options.quick and any(case.costly for case in exercise.cases):
            remarks.append(_("--quick: the long training was skipped, so this is not a final score"))
        judged = self._judged(request)
        result, evidence = builder.from_cases(judged, remarks)
        return self._instead_of(result, builder, judged, remarks) or (result, evidence)

    def _from_text(
        self, exercise: Exercise, builder: ResultBuilder, remarks: Sequence[str]
    ) -> tuple[ExerciseResult, Evidence] | None:
        """The result if the text alone decides it: not started, or another interface. None if the cases must run."""
        if exercise.name in self.aliases and self._untouched(exercise, builder.alias):
            return builder.without_checks("not_started")
        if has_no_code(self.submission, self.names, builder.alias):
            says = _("{name} has no code yet").format(name=sanitize(builder.alias))
            return builder.without_checks("not_started", says)
        if other := self._interface(exercise, builder.alias).other:
            return builder.without_checks("other_interface", other, remarks)
        return None

    def _instead_of(
        self, result: ExerciseResult, builder: ResultBuilder, judged: Sequence[JudgedCase], remarks: list[str]
    ) -> tuple[ExerciseResult, Evidence] | None:
        """What to report instead of a failure: the code lacks a module, or takes another mask. None if it stays."""
        if result.outcome != "failed":
            return None
        exercise = builder.exercise
        if not result.score:
            errors = [j.observation.error for j in judged if j.observation and j.observation.error]
            if wanting := self._for_want_of(exercise, builder, errors, remarks):
                return wanting
        masks = self._takes_mask(exercise, builder.alias) if self.context.options.foreign else ""
        if masks and not result.diagnosis.alternatives:
            return builder.without_checks("other_interface", masks, remarks[: builder.alias != exercise.name])
        return None

    def _renamed(self, alias: str, name: str) -> str:
        found, definition = sanitize(alias), self.names.definitions.get(alias)
        if definition is None:
            return _("{found} was graded as {name}, the name in the course").format(found=found, name=name)
        says = _("{file}, line {line} defines {found}; it was graded as {name}, the name in the course")
        return says.format(file=sanitize(definition.unit), line=definition.line, found=found, name=name)

    def _for_want_of(
        self,
        exercise: Exercise,
        builder: ResultBuilder,
        errors: Sequence[StudentError],
        remarks: Sequence[str],
    ) -> tuple[ExerciseResult, Evidence] | None:
        """Return a result if the code lacks a module, a package or a GPU; None if its exceptions say something else.

        In a course this excuses an exercise only if a package is not installed, and not if hidden cases decide the
        points. See docs/decisions/21.
        """
        options = self.context.options
        if options.foreign and options.device == "cpu" and needs_gpu(errors, self.history.notes):
            return builder.without_checks("could_not_grade", of_gpu(), remarks)
        missing = blamed(errors, missing_names(self.history.notes))
        if missing is None:
            return None
        says, package = of_missing(missing), is_package(missing.module)
        if options.foreign or (package and not options.hidden):
            return builder.without_checks("could_not_grade", says, remarks)
        if package:
            remarks = [*remarks, _("for the instructor: grade again where this package is installed")]
        return builder.without_checks("blocked", says, remarks)

    def _interface(self, exercise: Exercise, alias: str) -> Interface:
        if (exercise.name, alias) not in self.interfaces:
            stub = self.context.stubs[exercise.assignment]
            found = interface(exercise, alias, Source(self.submission, self.names), stub)
            self.interfaces[exercise.name, alias] = found
        return self.interfaces[exercise.name, alias]

    def _takes_mask(self, exercise: Exercise, alias: str) -> str:
        stub = self.context.stubs[exercise.assignment]
        return takes_mask(exercise, alias, Source(self.submission, self.names), stub)

    def _untouched(self, exercise: Exercise, alias: str) -> bool:
        stub = self.context.stubs.get(exercise.assignment)
        return (
            stub is not None and alias == exercise.name and untouched(exercise.name, self.names, stub.names)
        )

    def request(self, exercise: Exercise, replaced: tuple[str, ...]) -> LoadRequest:
        """Return the load request for an exercise, with the student's earlier files if the exercise is made of
        their parts.
        """
        alias = self.aliases.get(exercise.name, exercise.name)
        blocks = student_blocks(self, exercise)
        request = LoadRequest(
            self.submission,
            exercise,
            dict(self.aliases),
            bound_names(blocks, replaced),
            keywords_of(blocks, replaced),
            history=self.history,
            renamed=self._interface(exercise, alias).renamed,
        )
        if not exercise.is_made_of_parts:
            return request
        here = {
            n: self.aliases[n]
            for n, run in student_blocks(self, exercise)
            if run is self and n not in replaced
        }
        own = {n: bound for n, bound in here.items() if not self._untouched(self.context.exercises[n], bound)}
        return replace(request, parts=self.parts, own=own)

    def _judged(self, request: LoadRequest) -> list[JudgedCase]:
        """Run and judge every case of the exercise. Cases that cost no points come last: after a timeout they may
        be skipped.
        """
        judged: list[JudgedCase] = []
        budget = Budget()
        options = self.context.options
        for case in sorted(request.exercise.cases, key=lambda case: bool(case.policy)):
            if not (case.costly and options.quick):
                ordered = off_last(request.exercise, case)
                one = skipped(ordered, judged, options.device, hidden=options.hidden) or self._judge(
                    request, ordered, budget
                )
                judged.append(without_off(request.exercise, one))
        return judged

    def _judge(self, request: LoadRequest, case: RecordedCase, budget: Budget) -> JudgedCase:
        """Run and judge one case. A failure counts only if the worker had loaded the file once, so it may run in a
        new worker.
        """
        device = self.context.options.device
        try:
            judged = judge_case(case, self._observe(request, case), device, budget)
            if self.context.slot.reloaded and any(check.outcome != "passed" for check in judged.checks):
                judged = judge_case(case, self._observe(request, case, in_new_worker=True), device, budget)
        except WorkerGone as gone:
            # On another device the grader may be at fault.
            outcome: CheckOutcome = "failed" if device == "cpu" else "could_not_grade"
            detail = f"{case_timeout(request.exercise, case):g}" if gone.why == "time" else gone.detail
            lost = lost_case(case, outcome, gone.why, detail, place_of(gone), device)
            return replace(lost, printed=gone.printed)
        except (CannotLoad, SandboxError) as error:
            return unseen_case(case, "could_not_grade", "fault", str(error), device=device)
        return judged

    def _observe(
        self, request: LoadRequest, case: RecordedCase, *, in_new_worker: bool = False
    ) -> Observation:
        """Run one case, measure what it trained, and bring the results into one layout."""
        on_training = partial(self.context.options.on_training, f"{request.exercise.name}, {case.id}")
        observation = self.context.slot.observe(request, case, on_training, in_new_worker=in_new_worker)
        return normalise_layouts(self._examined(request.exercise, case, observation), case.steps)

    def _examined(self, exercise: Exercise, case: RecordedCase, observation: Observation) -> Observation:
        """Measure trained weights in a second worker, in which no student code runs."""
        if case.exam is None:
            return observation
        given = {name: source(name) for name in with_requirements(exercise.given)}
        return examined(case, observation, self.context.slot.launcher, limits(exercise), given)


def _by_parts(exercise: Exercise, result: ExerciseResult) -> bool:
    """Whether a case that uses the student's parts failed."""
    cases = {case.id for case in exercise.cases if any(step.get("own") for step in case.steps)}
    return any(c.outcome == "failed" and c.id.split("/")[0] in cases for c in result.checks)

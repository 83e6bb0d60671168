"""One submission being graded: case → worker → observation → judge → diagnosis, an exercise at a time."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from grader.bundle.model import Exercise, RecordedCase
from grader.engine.context import Context
from grader.engine.load_request import History, LoadRequest, limits
from grader.engine.loading import defined_name, load_remarks
from grader.engine.messages import how_it_ended
from grader.engine.post_training import examined
from grader.engine.result import Attempt
from grader.engine.result_cache import key
from grader.engine.session import WorkerGone
from grader.engine.student_parts import Part, content, told
from grader.engine.visibility import with_requirements
from grader.engine.worker_slot import CannotLoad
from grader.given import source
from grader.intake.names import Names, match, read_names, untouched
from grader.intake.read import Submission
from grader.judge.normalise import arranged
from grader.judge.observation import Observation
from grader.judge.verdict import judge_case, unseen_case
from grader.report.model import CheckOutcome, CheckResult, ExerciseResult
from grader.sandbox.base import SandboxError
from grader.support.i18n import _, language
from grader.support.sanitize import sanitize
from grader.support.version import __version__

MAX_LOST = 2  # workers lost by one exercise before the rest of its cases is left alone


@dataclass
class Run:
    """One submission being graded."""

    context: Context
    submission: Submission
    names: Names
    parts: tuple[Part, ...] = ()
    done: dict[str, ExerciseResult] = field(default_factory=dict)
    earlier: dict[str, Run] = field(default_factory=dict)
    history: History = field(default_factory=History)
    unsteady: set[str] = field(default_factory=set)  # exercises whose result may be chance: workers were lost

    def __post_init__(self) -> None:
        self.aliases = match(self.context.constructors, self.names)

    def grade(self, exercise: Exercise) -> ExerciseResult:
        """Grade one exercise; where a building block of the student's own is wrong, once more with ours."""
        if exercise.name not in self.done:
            self.done[exercise.name] = self._remembered(exercise) or self._anew(exercise)
        return self.done[exercise.name]

    def _anew(self, exercise: Exercise) -> ExerciseResult:
        before = self._lost()
        result = self._without_inherited_faults(exercise, self._once(exercise, ()))
        if self._lost() > before or any(name in run.unsteady for name, run in self._own(exercise)):
            self.unsteady.add(exercise.name)
        elif result.outcome in ("passed", "failed") and not result.partial:
            self._remember(exercise, result)
        return result

    def _lost(self) -> int:
        """Workers lost so far over this file and over the earlier ones, whichever exercise it was for."""
        return self.history.lost + sum(run._lost() for run in self.earlier.values())

    def _without_inherited_faults(self, exercise: Exercise, result: ExerciseResult) -> ExerciseResult:
        if result.outcome != "failed" or (exercise.is_made_of_parts and not _by_parts(exercise, result)):
            return result
        faulty = tuple(
            name
            for name, run in self._own(exercise)
            if run.grade(self.context.exercises[name]).outcome in ("failed", "blocked", "not_started")
        )
        says = _("graded with the course's own {blocks}: yours has a fault of its own, reported there")
        again = self._with_ours(exercise, result, faulty, says)
        if not exercise.is_made_of_parts or not _by_parts(exercise, again):
            return again
        every = tuple(name for name, _run in self._own(exercise))
        says = _(
            "graded with the course's own parts: yours ({blocks}) pass alone, and did not do together;"
            " a decoder that restarts its positions in prediction is one reason"
        )
        return again if set(every) == set(faulty) else self._with_ours(exercise, again, every, says)

    def _with_ours(
        self, exercise: Exercise, result: ExerciseResult, names: tuple[str, ...], says: str
    ) -> ExerciseResult:
        """The result of a second try with our blocks in the place of `names`, unless it is worse."""
        if not names:
            return result
        again = self._once(exercise, names)
        if again.score is None or again.score < (result.score or 0):
            return result  # with blocks that are right, what is left is the exercise's own
        remark = says.format(blocks=", ".join(names))
        return replace(again, remarks=(*again.remarks, remark), seconds=again.seconds + result.seconds)

    def _own(self, exercise: Exercise) -> list[tuple[str, Run]]:
        """The blocks of an exercise that its author wrote, and where: in this file or in an earlier one."""
        here = {n: self for n in exercise.given if n in self.aliases and n in self.context.exercises}
        if not exercise.is_made_of_parts:
            return list(here.items())
        for part in self.parts:
            run = self.earlier.setdefault(
                part.submission.content, Run(self.context, part.submission, read_names(part.submission))
            )
            here |= {n: run for n in part.names if n not in here and n in self.context.exercises}
        return [(name, here[name]) for name in exercise.given if name in here]

    # ---- what takes long is remembered

    def _key(self, exercise: Exercise) -> str:
        context = self.context
        tier = context.slot.launcher.tier
        circumstances = (__version__, context.options.torch_version, tier, context.options.device, language())
        return key(exercise, content(self.submission, self.parts), *circumstances)

    def _is_kept(self, exercise: Exercise) -> bool:
        """What counts as a grade is never taken from a folder that a student can write."""
        options = self.context.options
        if options.hidden or options.quick or os.environ.get("CI"):
            return False
        return any(case.costly for case in exercise.cases)

    def _remembered(self, exercise: Exercise) -> ExerciseResult | None:
        if self.context.options.cache is None or not self._is_kept(exercise):
            return None
        found = self.context.options.cache.get(self._key(exercise), exercise)
        if found is None:
            return None
        remark = _("kept from an earlier check of the same files: nothing was run again")
        return replace(found, remarks=(*found.remarks, remark), seconds=0.0)

    def _remember(self, exercise: Exercise, result: ExerciseResult) -> None:
        if self.context.options.cache is not None and self._is_kept(exercise):
            self.context.options.cache.put(self._key(exercise), exercise, result)

    # ---- one try

    def _once(self, exercise: Exercise, replaced: tuple[str, ...]) -> ExerciseResult:
        alias = self.aliases.get(exercise.name, exercise.name)
        attempt = Attempt(exercise, self.submission, alias, time.monotonic(), self.context.options.hidden)
        remarks = []
        if alias != exercise.name:
            remarks.append(_("graded {found} as {name}").format(found=sanitize(alias), name=exercise.name))
        if exercise.name in self.aliases and self._untouched(exercise, alias):
            return attempt.result("not_started")
        try:
            request = self._request(exercise, replaced)
            loaded = self.context.slot.load(request)
            self.aliases[exercise.name] = defined_name(request, loaded, self.names)
        except CannotLoad as why:
            return attempt.result("blocked", message=str(why), remarks=remarks)
        except SandboxError as error:
            return attempt.result("could_not_grade", message=str(error))
        remarks += load_remarks(loaded)
        if exercise.is_made_of_parts:
            known = [name for name in exercise.given if name in self.context.exercises]
            remarks.append(told(loaded.own, known))
        partial = self.context.options.quick and any(case.costly for case in exercise.cases)
        if partial:
            remarks.append(
                _("a quick check: the training that takes longer was left out, so this is no grade")
            )
        checks, observations = self._judged(self._request(exercise, replaced))
        return replace(attempt.concluded(checks, observations, remarks), partial=partial)

    def _untouched(self, exercise: Exercise, alias: str) -> bool:
        stub = self.context.stubs.get(exercise.assignment)
        return stub is not None and alias == exercise.name and untouched(exercise.name, self.names, stub)

    def _request(self, exercise: Exercise, replaced: tuple[str, ...]) -> LoadRequest:
        """What the worker loads; for an exercise made of the student's parts, the earlier files as well."""
        request = LoadRequest(self.submission, exercise, dict(self.aliases), replaced, history=self.history)
        if not exercise.is_made_of_parts:
            return request
        here = {n: self.aliases[n] for n, run in self._own(exercise) if run is self and n not in replaced}
        own = {n: bound for n, bound in here.items() if not self._untouched(self.context.exercises[n], bound)}
        return replace(request, parts=self.parts, own=own)

    def _judged(self, request: LoadRequest) -> tuple[list[CheckResult], dict[str, Observation]]:
        """The checks of every case, and what was observed, by the case's id."""
        checks: list[CheckResult] = []
        observations: dict[str, Observation] = {}
        lost = 0
        hidden, device = self.context.options.hidden, self.context.options.device
        for case in request.exercise.cases:
            if case.costly and self.context.options.quick:
                continue
            why = _why_not(case, checks, lost)
            if why:
                checks += unseen_case(case, "skipped", why, hidden=hidden, device=device)
                continue
            try:
                observation, found = self._verdict(request, case)
            except WorkerGone as gone:
                lost += 1
                # On another device the grader may be at fault.
                outcome: CheckOutcome = "failed" if device == "cpu" else "could_not_grade"
                said = how_it_ended(gone, hidden)
                checks += unseen_case(case, outcome, said, hidden=hidden, device=device)
            except (CannotLoad, SandboxError) as error:
                checks += unseen_case(case, "could_not_grade", str(error), hidden=hidden, device=device)
            else:
                observations[case.id] = observation
                checks += found
        return checks, observations

    def _verdict(self, request: LoadRequest, case: RecordedCase) -> tuple[Observation, list[CheckResult]]:
        """Judge one case. A verdict against an answer comes from a worker that loaded the file once."""
        options = self.context.options
        observation = self._observe(request, case)
        found = judge_case(case, observation, hidden=options.hidden, device=options.device)
        if self.context.slot.reloaded and any(check.outcome != "passed" for check in found):
            observation = self._observe(request, case, in_new_worker=True)
            found = judge_case(case, observation, hidden=options.hidden, device=options.device)
        return observation, found

    def _observe(
        self, request: LoadRequest, case: RecordedCase, *, in_new_worker: bool = False
    ) -> Observation:
        """Run one case, measure what it trained, and bring the results into one layout."""
        on_training = partial(self.context.options.on_training, f"{request.exercise.name}, {case.id}")
        observation = self.context.slot.observe(request, case, on_training, in_new_worker=in_new_worker)
        return arranged(self._examined(request.exercise, case, observation), case.steps)

    def _examined(self, exercise: Exercise, case: RecordedCase, observation: Observation) -> Observation:
        """Measure trained weights in a second worker, in which no student code runs."""
        if case.exam is None:
            return observation
        given = {name: source(name) for name in with_requirements(exercise.given)}
        return examined(case, observation, self.context.slot.launcher, limits(exercise), given)


def _by_parts(exercise: Exercise, result: ExerciseResult) -> bool:
    """Whether a case that builds on the student's own parts failed."""
    cases = {case.id for case in exercise.cases if any(step.get("own") for step in case.steps)}
    return any(c.outcome == "failed" and c.id.split("/")[0] in cases for c in result.checks)


def _why_not(case: RecordedCase, checks: Sequence[CheckResult], lost: int) -> str:
    """Why a case would tell nothing any more; "" where it may."""
    if lost >= MAX_LOST:
        return _("not looked at: the cases before did not end")
    if case.exam is not None and any(c.facet == "values" and c.outcome == "failed" for c in checks):
        return _("not trained: what was checked before comes first")
    return ""

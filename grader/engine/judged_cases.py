"""Run the cases of an exercise in a worker and judge them, also those that lose their worker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from grader.bundle.model import Exercise, RecordedCase
from grader.bundle.rules import FACTS
from grader.engine.load_request import LoadRequest, case_timeout
from grader.engine.post_training import examined
from grader.engine.session import WorkerGone
from grader.engine.submission_run import Context
from grader.engine.visibility import with_requirements
from grader.engine.worker_slot import CannotLoad
from grader.given import source
from grader.judge.finding import earlier_failed
from grader.judge.normalise import normalise_layouts
from grader.judge.observation import Observation, without_inside
from grader.judge.verdict import Budget, JudgedCase, judge_case, lost_case, unseen_case
from grader.report.model import CheckOutcome
from grader.sandbox.base import SandboxError
from grader.support.i18n import _

MAX_LOST = 2  # cases of one exercise that may lose their worker before the rest is skipped


def judged_cases(context: Context, request: LoadRequest) -> list[JudgedCase]:
    """Run and judge the cases of the exercise. The option `quick` leaves out costly cases.

    Cases that cost no points come last, because the last cases may be skipped after a timeout.
    """
    judged: list[JudgedCase] = []
    budget = Budget()
    together = Together(context, request)
    options = context.options
    for case in _in_order(request.exercise):
        if case.costly and options.quick:
            continue
        ordered = off_last(request.exercise, case)
        known = _skipped(ordered, judged, options.device, hidden=options.hidden)
        known = known or _judged(context, request, ordered, budget, together)
        judged.append(without_off(request.exercise, known))
    return judged


def off_last(exercise: Exercise, case: RecordedCase) -> RecordedCase:
    """Return the case with the checks of switched-off facets last.

    If the case raises an exception, only the first check that lacks a result fails. It should be one that counts.
    """
    if all(exercise.counts(check.facet) for check in case.checks):
        return case
    return replace(case, checks=tuple(sorted(case.checks, key=lambda c: not exercise.counts(c.facet))))


def without_off(exercise: Exercise, judged: JudgedCase) -> JudgedCase:
    """Return the judged case without checks of switched-off facets. The diagnosis still reads their findings."""
    counted = tuple(check for check in judged.checks if exercise.counts(check.facet))
    if len(counted) == len(judged.checks):
        return judged
    return replace(judged, checks=counted, codes={check.id: judged.codes[check.id] for check in counted})


def _skipped(
    case: RecordedCase, judged: Sequence[JudgedCase], device: str, *, hidden: bool
) -> JudgedCase | None:
    """Return the case as skipped if earlier cases decide it; None if it must run.

    judged: the earlier cases. A case is skipped after MAX_LOST lost workers; if it is public, after the first timeout,
    because a second one shows a student nothing new. A case with an exam (a case that measures what this one trained)
    is also skipped after a wrong value.
    """
    lost = [code for j in judged for code in j.codes.values() if code.startswith("lost")]
    if len(lost) >= MAX_LOST or (not hidden and any(code.startswith("lost time") for code in lost)):
        why = _("skipped: earlier cases did not finish")
        return unseen_case(case, "skipped", "skipped-timeouts", why, device=device)
    checks = (check for j in judged for check in j.checks)
    if case.exam is not None and any(c.facet == "values" and c.outcome == "failed" for c in checks):
        return unseen_case(case, "skipped", "skipped-failed", earlier_failed(), device=device)
    return None


class Together:
    """The observations of cases that were run with one message; empty if they must run one by one."""

    def __init__(self, context: Context, request: LoadRequest):
        self._context, self._request = context, request
        self._seen: dict[str, Observation] = {}
        self.run()

    def run(self) -> None:
        """Discard old observations. Run the cases that are not costly and have no exam (see `_observed`).

        If there is only one such case, it runs alone later.
        """
        slot = self._context.slot
        cases = [case for case in _in_order(self._request.exercise) if not case.costly and case.exam is None]
        self._seen = slot.observe_all(self._request, cases) if len(cases) > 1 else {}

    def get(self, case: RecordedCase) -> Observation | None:
        """Return what was observed, in the layout of the course; None if the case must run."""
        seen = self._seen.get(case.id)
        return None if seen is None else _to_judge(self._request.exercise, case, seen)

    def with_own_prints(self, case: RecordedCase, judged: JudgedCase) -> JudgedCase:
        """Return `judged`. If a check did not pass, replace the prints of all cases by those of this case alone.

        To get them, a case that ran together with others is run once more. In hidden cases the prints are discarded
        without a run.
        """
        seen = judged.observation
        if seen is None or not seen.printed or case.id not in self._seen or not _has_failed(judged):
            return judged
        return replace(judged, observation=replace(seen, printed=self._printed_alone(case)))

    def _printed_alone(self, case: RecordedCase) -> str:
        if self._context.options.hidden:
            return ""
        try:
            return self._context.slot.observe(self._request, case).printed
        except (WorkerGone, CannotLoad, SandboxError):
            return ""


def _in_order(exercise: Exercise) -> list[RecordedCase]:
    return sorted(exercise.cases, key=lambda case: bool(case.policy))


def _judged(
    context: Context, request: LoadRequest, case: RecordedCase, budget: Budget, together: Together
) -> JudgedCase:
    """Run and judge one case.

    If it fails in a worker that had loaded the submission for another exercise before, run it again in a new worker.
    Only the second result counts.
    """
    device = context.options.device
    try:
        judged = judge_case(case, together.get(case) or _observed(context, request, case), device, budget)
        if context.slot.reloaded and _has_failed(judged):
            context.slot.close()
            together.run()
            again = together.get(case) or _observed(context, request, case)
            judged = judge_case(case, again, device, budget)
        return together.with_own_prints(case, judged)
    except WorkerGone as gone:
        return _without_worker(request.exercise, case, gone, device)
    except (CannotLoad, SandboxError) as error:
        return unseen_case(case, "could_not_grade", "fault", str(error), device=device)


def _has_failed(judged: JudgedCase) -> bool:
    return any(check.outcome != "passed" for check in judged.checks)


def _without_worker(exercise: Exercise, case: RecordedCase, gone: WorkerGone, device: str) -> JudgedCase:
    """Return the verdict on a case that lost its worker.

    On another device than the CPU, the grader may be at fault, so the case could not be graded.
    """
    outcome: CheckOutcome = "failed" if device == "cpu" else "could_not_grade"
    detail = f"{case_timeout(exercise, case):g}" if gone.why == "time" else gone.detail
    place = "" if _only_facts(exercise) else gone.place
    lost = lost_case(case, outcome, gone.why, detail, place, device)
    return replace(lost, printed=gone.printed)


def _observed(context: Context, request: LoadRequest, case: RecordedCase) -> Observation:
    on_training = partial(context.options.on_training, f"{request.exercise.name}, {case.id}")
    observation = context.slot.observe(request, case, on_training)
    if case.exam is not None:  # it measures trained weights, in a second worker without student code
        given = {name: source(name) for name in with_requirements(request.exercise.given)}
        observation = examined(case, observation, context.slot.launcher, request.limits, given)
    return _to_judge(request.exercise, case, observation)


def _to_judge(exercise: Exercise, case: RecordedCase, observation: Observation) -> Observation:
    """Bring the results into the layout of the course. If only facts are reported, leave out what was inside."""
    seen = normalise_layouts(observation, case.steps)
    return without_inside(seen) if _only_facts(exercise) else seen


def _only_facts(exercise: Exercise) -> bool:
    """Whether a report names no line. The lines of a student's test of a class of the case give nothing away."""
    return exercise.level == FACTS and not exercise.brings_classes

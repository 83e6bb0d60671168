"""Run the cases of an exercise in a worker and judge them, also those that lose their worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from grader.bundle.model import Exercise, RecordedCase
from grader.bundle.rules import FACTS
from grader.bundle.safetensors import Array, encode
from grader.engine.load_request import LoadRequest, case_timeout
from grader.engine.session import Session, WorkerGone, last_line
from grader.engine.submission_run import Context
from grader.engine.visibility import with_requirements
from grader.engine.worker_slot import CannotLoad
from grader.given import source
from grader.judge.finding import earlier_failed
from grader.judge.normalise import normalise_layouts
from grader.judge.observation import BadReply, Observation, read_observation, without_inside
from grader.judge.verdict import Budget, JudgedCase, judge_case, lost_case, unseen_case
from grader.report.model import CheckOutcome
from grader.sandbox.base import SHORT_SECONDS, Launcher, Limits, SandboxError
from grader.support.i18n import _
from grader.support.sanitize import sanitize

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


_NO_FILE: dict[str, object] = {"units": [], "withheld": [], "replace": {}, "skip": []}


def examined(
    case: RecordedCase, observation: Observation, launcher: Launcher, limits: Limits, given: Mapping[str, str]
) -> Observation:
    """Return the observation with the results of the case's exam; unchanged if there is nothing to evaluate.

    Raises SandboxError if the worker of the exam fails, since no student code runs in it.
    """
    exam, weights = case.exam, _weights(case, observation)
    if exam is None or weights is None:
        return observation
    session = Session(launcher, limits)
    try:
        session.ask({"op": "load", **_NO_FILE, "given": dict(given), "seconds": SHORT_SECONDS})
        run = {"op": "run", "case": {"steps": exam.steps, "dtype": exam.dtype}}
        reply = session.ask(run, encode({**exam.tensors, **weights}))
        seen = read_observation(reply.words, reply.body, exam.asked)
    except (WorkerGone, BadReply) as error:
        raise SandboxError(_("the trained model could not be evaluated: {why}").format(why=error)) from None
    finally:
        session.close()
    if "fault" in reply.words or seen.error is not None:
        why = last_line(reply.words.get("fault", ""))
        if seen.error is not None:
            why = sanitize(": ".join(filter(None, (seen.error.type, seen.error.message))), 300)
        raise SandboxError(_("the trained model could not be evaluated: {why}").format(why=why))
    return replace(observation, seen={**observation.seen, **seen.seen})


def _weights(case: RecordedCase, observation: Observation) -> dict[str, Array] | None:
    out = {}
    for name, header in case.headers.items():
        if name.startswith("state "):
            seen = observation.seen.get(name)
            if seen is None or seen.array is None or seen.shape != header.shape:
                return None
            out[name] = seen.array
    return out

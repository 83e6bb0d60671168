"""Run the cases of an exercise in a worker and judge them, also those that lose their worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from msgspec import structs

from grader.bundle.model import FACTS, Exercise, RecordedCase
from grader.bundle.safetensors import Array, encode
from grader.engine.grading import Context, Grading, GradingOptions
from grader.engine.handed_in import with_handed_in
from grader.engine.lease import Lease
from grader.engine.load_notes import how_loading_ended
from grader.engine.load_request import LoadRequest, case_timeout, with_requirements
from grader.engine.session import Session, WorkerGone, last_line
from grader.given import source
from grader.judge.exceptions import of_lost
from grader.judge.observation import (
    Observation,
    normalise_layouts,
    read_observation,
    without_inside,
)
from grader.judge.verdict import SKIPPED, Budget, JudgedCase, judge_case, unseen_case
from grader.report.finding import STOPPED, Fact, Finding
from grader.report.model import CheckOutcome
from grader.sandbox.base import SHORT_SECONDS, Launcher, Limits, SandboxError
from grader.support.errors import BadData
from grader.support.i18n import _
from grader.support.sanitize import sanitize
from grader.worker.steps import Asked, Run, to_body

MAY_BE_CHANCE = ("died", "stale", "fault")  # reasons for a lost worker, see `WorkerGone`
MAX_LOST = 2  # cases of one exercise that may lose their worker before the rest is skipped


def judged_cases(
    grading: Grading, request: LoadRequest, forgiving: bool, fault_of: Callable[[WorkerGone], str]
) -> list[JudgedCase] | None:
    """Run and judge the cases of the exercise; None if the attempt is to be repeated.

    fault_of: returns a sentence if the grader is at fault that a worker was lost. The option `quick` leaves out costly
    cases. Cases that cost no points come last, because the last cases may be skipped after a timeout.
    """
    options, exercise, judged = grading.context.options, request.exercise, list[JudgedCase]()
    ordered = sorted(exercise.cases, key=lambda case: bool(case.policy))
    lease = grading.context.workers.lease(request)
    together = [case for case in ordered if not case.costly and case.exam is None]
    apart, key = grading.apart, (request.content, exercise.name)
    seen = lease.observe_all(together) if len(together) > 1 and key not in apart else {}
    if lease.session.closed:
        apart.add(key)
        return None
    budget = Budget()
    for one in ordered:
        handed_in = request.submission.weights
        if (one.costly and options.quick) or (one.takes_weights and handed_in is None):
            continue
        case = off_last(exercise, one)
        found = _skipped(case, judged, options)
        if found is None and case.takes_weights and handed_in is not None:
            given = with_handed_in(case, handed_in)
            if isinstance(given, Finding):
                found = unseen_case(case, "failed", given, device=options.device)
            else:
                case = given
        try:
            if found is None:
                lease = grading.context.workers.lease(request)
                observation = seen.get(case.id) or _observed(grading.context, lease, case)
                found = judge_case(case, _to_judge(exercise, case, observation), options.device, budget)
        except WorkerGone as gone:
            if repeats(grading, lease, forgiving, gone):
                return None
            found = _without_worker(lease, case, gone, options.device, fault_of(gone))
        except SandboxError as error:
            if forgiving:
                return None
            found = _ungraded(case, str(error), options.device)
        if lease.used and any(check.outcome != "passed" for check in found.checks):
            return None
        judged.append(without_off(exercise, found))
    return judged


def repeats(grading: Grading, lease: Lease, forgiving: bool, gone: WorkerGone) -> bool:
    """Whether an attempt that lost its worker is repeated in a new one.

    It is if the worker had loaded the submission for another exercise before, if a top-level statement that timed out is
    now left out, and if the loss may be chance, but only once (forgiving).
    """
    grading.lost += 1
    if lease.used or (lease.loaded is None and grading.leaves_out(gone)):
        return True
    return forgiving and gone.why in MAY_BE_CHANCE


def off_last(exercise: Exercise, case: RecordedCase) -> RecordedCase:
    """Return the case with the checks of switched-off facets last.

    If the case raises an exception, only the first check that lacks a result fails. It should be one that counts.
    """
    if all(exercise.counts(check.facet) for check in case.checks):
        return case
    return structs.replace(
        case, checks=tuple(sorted(case.checks, key=lambda c: not exercise.counts(c.facet)))
    )


def without_off(exercise: Exercise, judged: JudgedCase) -> JudgedCase:
    """Return the judged case without checks of switched-off facets. The diagnosis still reads their findings."""
    counted = tuple(check for check in judged.checks if exercise.counts(check.facet))
    off = tuple(check for check in judged.checks if not exercise.counts(check.facet))
    return replace(judged, checks=counted, off=off)


def _skipped(case: RecordedCase, judged: Sequence[JudgedCase], options: GradingOptions) -> JudgedCase | None:
    """Return the case as skipped if earlier cases decide it; None if it must run.

    judged: the earlier cases. A case is skipped after MAX_LOST lost workers, perhaps already after the first timeout. A
    case with an exam (a case that measures what this one trained)
    is also skipped after a wrong value.
    """
    checks = [check for j in judged for check in j.checks]
    lost = [check.finding.rule for check in checks if check.finding.kind == "lost"]
    if len(lost) >= MAX_LOST or (options.terms.skips_after_timeout and STOPPED in lost):
        return unseen_case(case, "skipped", Finding("skipped/timeouts"), device=options.device)
    if case.exam is not None and any(c.facet == "values" and c.outcome == "failed" for c in checks):
        return unseen_case(case, "skipped", SKIPPED, device=options.device)
    return None


def _without_worker(
    lease: Lease, case: RecordedCase, gone: WorkerGone, device: str, fault: str
) -> JudgedCase:
    """Return the verdict on a case that lost its worker. fault: why that is the grader's fault.

    On another device than the CPU, the grader may be at fault, so the case could not be graded.
    """
    exercise = lease.request.exercise
    if fault or lease.loaded is None:
        return _ungraded(case, fault or how_loading_ended(gone), device)
    outcome: CheckOutcome = "failed" if device == "cpu" else "could_not_grade"
    detail = f"{case_timeout(exercise, case):g}" if gone.why == "time" else gone.detail
    place = None if _only_facts(exercise) else gone.line
    lost = of_lost(gone.why, detail, place)
    return unseen_case(case, outcome, lost, device=device, printed=gone.printed)


def _ungraded(case: RecordedCase, why: str | Fact, device: str) -> JudgedCase:
    return unseen_case(case, "could_not_grade", Finding("fault/case", {"why": why}), device=device)


def _observed(context: Context, lease: Lease, case: RecordedCase) -> Observation:
    lease.load()
    exercise = lease.request.exercise
    observation = lease.observe(case, partial(context.options.on_training, f"{exercise.name}, {case.id}"))
    if case.exam is not None:  # it measures trained weights, in a second worker without student code
        given = {name: source(name) for name in with_requirements(exercise.given)}
        return examined(case, observation, context.workers.launcher, lease.request.limits, given)
    return observation


def _to_judge(exercise: Exercise, case: RecordedCase, observation: Observation) -> Observation:
    """Bring the results into the layout of the course. If only facts are reported, leave out what was inside."""
    seen = normalise_layouts(observation, case.steps)
    return without_inside(seen) if _only_facts(exercise) else seen


def _only_facts(exercise: Exercise) -> bool:
    """Whether a report names no line. The lines of a student's test of a class of the case give nothing away."""
    return exercise.level == FACTS and not exercise.brings_classes


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
        session.ask({"op": "load", "units": [], "given": dict(given), "seconds": SHORT_SECONDS})
        asked = Asked(Run(exam.steps, exam.dtype), encode({**exam.tensors, **weights}))
        reply = session.ask({"op": "run"}, to_body([asked]))
        seen = read_observation(reply.words, reply.body, exam.asked)
    except (WorkerGone, BadData) as error:
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

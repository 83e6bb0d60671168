"""Judge one case: from its observation to lines of the report."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from grader.bundle.model import Check, RecordedCase
from grader.bundle.safetensors import Array
from grader.judge import decide
from grader.judge.exceptions import lost_message, out_of_memory_message, raised, ran_out_of_memory
from grader.judge.finding import Finding, earlier_failed, failed
from grader.judge.observation import Observation, Seen, StudentError
from grader.report.model import CheckOutcome, CheckResult
from grader.support.errors import GraderError
from grader.support.i18n import _
from grader.support.sanitize import sanitize

T = TypeVar("T")

SKIPPED = "skipped"
GRADER_FAULT = "fault"
OUT_OF_MEMORY = "no-memory"


@dataclass(frozen=True)
class JudgedCase:
    """The findings for one case. Every judge runs once; diagnosis and pictures read its findings.

    findings: check id → finding; a check whose observation is missing has none. printed: what student code printed
    before the worker was lost. codes: check id → the kind of result, which decides what a hidden report may show.
    """

    case: RecordedCase
    checks: tuple[CheckResult, ...]
    codes: Mapping[str, str]
    observation: Observation | None = None
    findings: Mapping[str, Finding] = field(default_factory=dict)
    printed: str = ""


class JudgingTimeoutError(GraderError):
    """Judging one exercise took more CPU time than the results of a normal answer need."""

    exit_status = 3


@dataclass
class Budget:
    """CPU seconds of this thread for judging one exercise, or for its diagnosis.

    It is checked between judges, and between candidates of a diagnosis. The time of each of these steps is bounded by
    the size of the tensors that a reply may contain.
    """

    seconds: float = 60.0
    started: float = field(default_factory=time.thread_time)

    def check(self) -> None:
        """Raise JudgingTimeoutError if the budget is spent."""
        if time.thread_time() - self.started > self.seconds:
            raise JudgingTimeoutError("judging took too long")

    def within(self, items: Iterable[T]) -> Iterator[T]:
        """Yield the items while the budget lasts. Raises JudgingTimeoutError."""
        for item in items:
            self.check()
            yield item


def judge_case(
    case: RecordedCase, observation: Observation, device: str = "cpu", budget: Budget | None = None
) -> JudgedCase:
    """Decide every check of a case. Raises JudgingTimeoutError if the budget is spent.

    After an exception, the first check whose observation is missing fails and reports the exception; the other checks
    whose observation is missing are skipped. If a GPU ran out of memory, the case could not be graded.
    A failed check of a policy is advice.
    """
    error = observation.error
    if device != "cpu" and error is not None and ran_out_of_memory(error):
        return unseen_case(
            case, "could_not_grade", OUT_OF_MEMORY, out_of_memory_message(error), device=device
        )
    findings: dict[str, Finding] = {}
    codes: dict[str, str] = {}
    results: list[CheckResult] = []
    reported = False
    for check in _in_order(case):
        if budget is not None:
            budget.check()
        if error is None or check.judge == "raises" or not lacks(check, observation):
            finding = findings[check.id] = judged(check, case, observation)
            outcome: CheckOutcome = "passed" if finding.passed else "failed"
            if finding.code == GRADER_FAULT:
                outcome = "could_not_grade"
        elif reported:
            finding, outcome = failed(SKIPPED, earlier_failed()), "skipped"
        else:
            finding, outcome, reported = of_error(error, check.params.get("want")), "failed", True
        codes[check.id] = finding.code
        results.append(_result(case, check, outcome, device, finding))
    return JudgedCase(case, tuple(results), codes, observation, findings)


def _in_order(case: RecordedCase) -> list[Check]:
    """Return the checks; those that count come first, so that one of them reports an exception."""
    return sorted(case.checks, key=lambda check: bool(check.policy))


def judge_all(
    cases: Iterable[RecordedCase], observations: Mapping[str, Observation]
) -> dict[str, JudgedCase]:
    """Return case id → what the judges found, for every case that has an observation."""
    return {case.id: judge_case(case, observations[case.id]) for case in cases if case.id in observations}


def judged(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """Return the finding of a check's judge. Student code may have changed the observation, so it may be anything.

    If the judge raises, the check fails. If the judge raises for a right answer too, the grader is at fault.
    """
    try:
        return decide(check, case, observation)
    except Exception as error:
        with suppress(Exception):
            decide(check, case, right_answer(case))
            return failed("unjudged", _("the result could not be checked"))
        return failed(GRADER_FAULT, _("the grader failed: {error}").format(error=type(error).__name__))


def right_answer(case: RecordedCase) -> Observation:
    """Return what a right answer gives: the expected tensors, zeros where there are none, and 1 for other results.

    The results of the case's exam, which a worker without student code measures, are missing.
    """
    values = {name: 1 for name, header in case.headers.items() if header.dtype == "value"}
    seen = {}
    for name, header in case.headers.items():
        if name not in values:
            array: Array | None = case.expected.get(name)
            seen[name] = Seen(header.shape, header.dtype, np.zeros(header.shape) if array is None else array)
    lists: dict[str, object] = {key: [] for key in ("missing", "unexpected", "misshapen", "shared")}
    return Observation(seen, parameters={**lists, "layout": "", "shapes": {}}, values=values)


def lost_case(
    case: RecordedCase, outcome: CheckOutcome, why: str, detail: str, where: str, device: str
) -> JudgedCase:
    """Return a case that lost its worker, with the verdict `outcome`. why, detail: see `lost_message`."""
    message = lost_message(why, sanitize(detail, 200))
    # A report on hidden cases may show this code. Student code does not choose the seconds, but it may choose
    # other details.
    code = f"lost time {detail}".rstrip() if why == "time" else f"lost {why}"
    return unseen_case(case, outcome, code, message, where=where, device=device)


def unseen_case(
    case: RecordedCase,
    outcome: CheckOutcome,
    code: str,
    message: str,
    *,
    where: str = "",
    device: str = "cpu",
) -> JudgedCase:
    """Return a case without an observation, with the verdict `outcome`. Its first check says why.

    The other checks are skipped; if `outcome` is "could_not_grade", they could not be graded either.
    """
    rest: CheckOutcome = outcome if outcome == "could_not_grade" else "skipped"
    why = message if outcome == "skipped" else earlier_failed()
    first, other = failed(code, message, where=where), failed(SKIPPED, why)
    checks = [
        _result(case, check, rest if i else outcome, device, other if i else first)
        for i, check in enumerate(_in_order(case))
    ]
    codes = {check.id: SKIPPED if i else code for i, check in enumerate(_in_order(case))}
    return JudgedCase(case, tuple(checks), codes)


def lacks(check: Check, observation: Observation) -> bool:
    """Whether something that a check needs was never observed."""
    if check.judge == "parameters":
        return observation.parameters is None
    return any(name not in observation.seen and name not in observation.values for name in check.of)


def of_error(error: StudentError, faulty: bool | None = None) -> Finding:
    """Return an exception as a finding: its text, and the student's line that raised it. faulty: see `raised`.

    For a debugger the line is left out: without a keyboard, it stops on the line after the call.
    """
    where = ""
    if error.where is not None and not error.starts_debugger:
        file, line, text = error.where
        where = _("{file}, line {line}").format(file=sanitize(file), line=line)
        where += f": {sanitize(text)}" if text else ""
    code = f"!{error.type} provided" if error.provided else f"!{error.type}"
    return failed(code, raised(error, faulty), where=where)


def _result(
    case: RecordedCase, check: Check, outcome: CheckOutcome, device: str, finding: Finding
) -> CheckResult:
    return CheckResult(
        id=check.id,
        facet=check.facet,
        title=_(check.title),
        outcome="advice" if outcome == "failed" and check.policy else outcome,
        device=device,
        dtype=case.dtype,
        message=sanitize(finding.message),
        expected=sanitize(finding.expected),
        got=sanitize(finding.got),
        where=sanitize(finding.where),
        policy=check.policy,
    )

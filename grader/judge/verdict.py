"""Judge one case: from its observation to the outcome and the finding of each check. Some failures are only advice.

A policy is a kind of failure that gives advice and costs no points.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from grader.bundle.model import Check, Exercise, KnownMistake, RecordedCase
from grader.bundle.safetensors import Array
from grader.judge import compare, dropout, generated_text, properties, removals
from grader.judge.compare import JUDGES, Wrong
from grader.judge.exceptions import of_error, of_gpu_memory, ran_out_of_memory
from grader.judge.observation import Observation, Seen
from grader.report.finding import EXCEPTION, Finding, Writer
from grader.report.model import Advice, CheckOutcome
from grader.support.errors import GraderError
from grader.support.i18n import _

T = TypeVar("T")

FILES = (compare, dropout, generated_text, properties, removals)  # each registers its judges
SKIPPED = Finding("skipped")
UNJUDGED = Finding("unjudged")  # the judge raised an exception over this answer, and over no right one
# Kind of finding → outcome; other kinds: failed.
OUTCOMES: Mapping[str, CheckOutcome] = {"passed": "passed", "skipped": "skipped", "fault": "could_not_grade"}


@dataclass(frozen=True)
class JudgedCheck:
    """One check with its outcome, and the finding that says why.

    judged: whether a judge decided it; otherwise the finding is an exception, a lost worker, or why it was skipped.
    dtype: of its case. device: on which its case ran.
    """

    check: Check
    outcome: CheckOutcome
    finding: Finding
    judged: bool = False
    dtype: str = "float32"
    device: str = "cpu"

    @property
    def id(self) -> str:
        return self.check.id

    @property
    def facet(self) -> str:
        return self.check.facet

    @property
    def counts(self) -> bool:
        return not self.check.policy


@dataclass(frozen=True)
class JudgedCase:
    """The checks of one case. Every judge runs once; diagnosis and pictures read the findings.

    printed: what student code printed before the worker was lost. off: checks of facets that the course switched off,
    which only the diagnosis reads.
    """

    case: RecordedCase
    checks: tuple[JudgedCheck, ...]
    observation: Observation | None = None
    printed: str = ""
    off: tuple[JudgedCheck, ...] = ()


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
        return unseen_case(case, "could_not_grade", of_gpu_memory(error), device=device)
    results: list[JudgedCheck] = []
    reported = False
    for check in _in_order(case):
        if budget is not None:
            budget.check()
        is_judged = error is None or check.judge == "raises" or not lacks(check, observation)
        if error is None or is_judged:
            finding = judged(check, case, observation)
        elif reported:
            finding = SKIPPED
        else:
            finding, reported = of_error(error, check.params.get("want")), True
        outcome = OUTCOMES.get(finding.kind, "failed")
        results.append(_result(case, check, outcome, device, finding, is_judged))
    return JudgedCase(case, tuple(results), observation)


def _in_order(case: RecordedCase) -> list[Check]:
    """Return the checks; those that count come first, so that one of them reports an exception."""
    return sorted(case.checks, key=lambda check: bool(check.policy))


def judge_all(
    cases: Iterable[RecordedCase], observations: Mapping[str, Observation]
) -> dict[str, JudgedCase]:
    """Return case id → what the judges found, for every case that has an observation."""
    return {case.id: judge_case(case, observations[case.id]) for case in cases if case.id in observations}


def decide(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """Return the finding of a check's judge. Raises whatever the judge raises for values that it cannot read."""
    try:
        return JUDGES[check.judge](check, case, observation)
    except Wrong as wrong:
        return wrong.finding


def judged(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """Return the finding of a check's judge. Student code may have changed the observation, so it may be anything.

    If the judge raises, the check fails. If the judge raises for a right answer too, the grader is at fault.
    """
    try:
        return decide(check, case, observation)
    except Exception as error:
        with suppress(Exception):
            decide(check, case, right_answer(case))
            return UNJUDGED
        return Finding("fault", {"error": type(error).__name__})


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


def unseen_case(
    case: RecordedCase, outcome: CheckOutcome, why: Finding, *, device: str = "cpu", printed: str = ""
) -> JudgedCase:
    """Return a case without an observation, with the verdict `outcome`. Its first check says why.

    The other checks are skipped; if `outcome` is "could_not_grade", they could not be graded either.
    """
    rest: CheckOutcome = outcome if outcome == "could_not_grade" else "skipped"
    also = why if outcome == "skipped" else SKIPPED
    checks = [
        _result(case, check, rest if i else outcome, device, also if i else why)
        for i, check in enumerate(_in_order(case))
    ]
    return JudgedCase(case, tuple(checks), printed=printed)


def lacks(check: Check, observation: Observation) -> bool:
    """Whether something that a check needs was never observed."""
    if check.judge == "parameters":
        return observation.parameters is None
    return any(name not in observation.seen and name not in observation.values for name in check.of)


def _result(
    case: RecordedCase,
    check: Check,
    outcome: CheckOutcome,
    device: str,
    finding: Finding,
    is_judged: bool = False,
) -> JudgedCheck:
    advised: CheckOutcome = "advice" if outcome == "failed" and check.policy else outcome
    return JudgedCheck(check, advised, finding, is_judged, case.dtype, device)


def advice(
    exercise: Exercise, checks: Sequence[JudgedCheck], known: Collection[str], writer: Writer
) -> tuple[Advice, ...]:
    """Return one entry per policy that an answer breaks. known: ids of the known mistakes that explain the failures."""
    found: dict[str, list[JudgedCheck]] = {}
    for one in checks:
        if one.outcome == "advice":
            found.setdefault(one.check.policy, []).append(one)
    out = []
    for policy, group in found.items():
        answers = [m for m in exercise.mistakes if m.policy == policy and m.id in known]
        # Prefer an exception: it has a line.
        first = next((one for one in group if one.finding.kind == EXCEPTION), group[0])
        says, asks = says_and_asks(answers[:1]) if answers else ("", "")
        reason = f"{_(first.check.title)}: {writer.message(first.finding)}"
        ids = tuple(answer.id for answer in answers)
        where = writer.where(first.finding)
        out.append(Advice(policy, says, asks, reason, where, ids, tuple(one.id for one in group)))
    return tuple(out)


def without_moot(
    exercise: Exercise, checks: Sequence[JudgedCheck], known: Collection[str]
) -> tuple[JudgedCheck, ...]:
    """Return the checks of a failed answer. Advice is skipped unless a known mistake explains it.

    An answer that is wrong in float32 is often wrong in other dtypes too; this is no advice. known: as for `advice`.
    """
    explained = {m.policy for m in exercise.mistakes if m.id in known}
    moot = {one.id for one in checks if one.outcome == "advice" and one.check.policy not in explained}
    return skipping(checks, moot, "skipped")


def skipping(checks: Sequence[JudgedCheck], ids: Collection[str], rule: str) -> tuple[JudgedCheck, ...]:
    """Return the checks; those with these ids are skipped, for the reason of the rule."""
    return tuple(replace(c, outcome="skipped", finding=Finding(rule)) if c.id in ids else c for c in checks)


def says_and_asks(mistakes: Sequence[KnownMistake]) -> tuple[str, str]:
    """Return the sentence about mistakes that occur together, and the question of the first."""
    says = _(". In addition: ").join(_(mistake.says) for mistake in mistakes)
    asks = mistakes[0].asks
    return says, _(asks) if asks else ""

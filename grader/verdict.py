"""From one case's observation to lines of the report."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from grader.bundle import Exercise, RecordedCase
from grader.case import Check
from grader.i18n import _
from grader.judge import JUDGES
from grader.judge.finding import Finding, departures, failed
from grader.observation import Observation, StudentError
from grader.report.model import CheckOutcome, CheckResult
from grader.sanitize import sanitize


def judge_case(case: RecordedCase, observation: Observation, *, hidden: bool, device: str) -> list[CheckResult]:
    """Decide every check of a case. After an exception, the first check that lacks what it looks at
    fails and tells it; the others that lack something are skipped."""
    results = []
    told = False
    for check in case.checks:
        lacking = observation.error is not None and check.judge != "raises" and _lacks(check, observation)
        if lacking and told:
            results.append(_result(case, check, "skipped", hidden, device, Finding(False, message=_("not looked at"))))
            continue
        if lacking:
            assert observation.error is not None
            told = True
            finding = of_error(observation.error, hidden)
        else:
            finding = JUDGES[check.judge](check, case, observation)
        results.append(_result(case, check, "passed" if finding.passed else "failed", hidden, device, finding))
    return results


def unseen_case(
    case: RecordedCase, outcome: CheckOutcome, message: str, *, hidden: bool, device: str
) -> list[CheckResult]:
    """The checks of a case that gave no observation: the first tells why, the rest are skipped."""
    rest: CheckOutcome = outcome if outcome == "could_not_grade" else "skipped"
    return [
        _result(case, check, outcome if i == 0 else rest, hidden, device, Finding(False, message=message if i == 0 else _("not looked at")))
        for i, check in enumerate(case.checks)
    ]


def _lacks(check: Check, observation: Observation) -> bool:
    if check.judge == "parameters":
        return observation.parameters is None
    return any(name not in observation.seen and name not in observation.values for name in check.of)


def of_error(error: StudentError, hidden: bool) -> Finding:
    """An exception as a finding: what was raised, on which of the student's own lines.

    Of a hidden case only the exception's type is told: its text may hold the hidden input.
    """
    said = "" if hidden else sanitize(error.message, 500)
    what = f"{sanitize(error.type, 100)}: {said}" if said else sanitize(error.type, 100)
    where = ""
    if error.where is not None:
        file, line, text = error.where
        where = _("{file}, line {line}").format(file=sanitize(file), line=line)
        where += f": {sanitize(text)}" if text and not hidden else ""
    return failed(f"!{error.type}", _("it raised {what}").format(what=what), where=where)


def _result(case: RecordedCase, check: Check, outcome: CheckOutcome, hidden: bool, device: str, finding: Finding) -> CheckResult:
    return CheckResult(
        id=check.id,
        facet=check.facet,
        title=_(check.title),
        outcome=outcome,
        device=device,
        dtype=case.dtype,
        visibility="hidden" if hidden else "public",
        message=finding.message,
        expected=None if hidden else finding.expected,
        got=None if hidden else sanitize(finding.got),
        where=finding.where,
    )


def is_trivial(exercise: Exercise, observations: Iterable[tuple[RecordedCase, Observation]]) -> bool:
    """Whether every result whose values are judged is a constant or one of the inputs handed back.

    Only asked about answers whose values are wrong: a reference that is constant cannot be trivial.
    """
    judged = 0
    for case, observation in observations:
        for check in case.checks:
            if check.judge != "equal" or check.facet not in ("values", "masking"):
                continue
            for name in check.of:
                seen = observation.seen.get(name)
                if seen is None or seen.array is None:
                    continue
                judged += 1
                want = case.expected[name]
                if seen.array.shape == want.shape and not departures(seen.array, want, 1e-3).any():
                    return False
                constant = seen.array.size > 0 and np.ptp(np.nan_to_num(seen.array.astype(np.float64))) == 0
                handed_back = any(seen.array.size == t.size and np.array_equal(seen.array.ravel(), t.ravel()) for t in case.tensors.values())
                if not (constant or handed_back):
                    return False
    return judged > 0

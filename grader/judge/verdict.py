"""From one case's observation to lines of the report."""

from __future__ import annotations

import builtins
import re

from grader.bundle.check import Check
from grader.bundle.model import RecordedCase
from grader.judge import decide, redact
from grader.judge.finding import Finding, failed
from grader.judge.observation import Observation, StudentError
from grader.report.model import CheckOutcome, CheckResult
from grader.support.i18n import _
from grader.support.sanitize import sanitize


def judge_case(
    case: RecordedCase, observation: Observation, *, hidden: bool, device: str
) -> list[CheckResult]:
    """Decide every check of a case. After an exception, the first check that lacks what it looks at
    fails and tells it; the others that lack something are skipped. That an accelerator's memory is used up
    tells of the machine: such a case could not be graded."""
    if device != "cpu" and observation.error is not None and ran_out_of_memory(observation.error):
        return unseen_case(
            case, "could_not_grade", _used_up(observation.error, hidden), hidden=hidden, device=device
        )
    results = []
    told = False
    for check in case.checks:
        lacking = observation.error is not None and check.judge != "raises" and lacks(check, observation)
        if lacking and told:
            results.append(
                _result(case, check, "skipped", hidden, device, Finding(False, message=_("not looked at")))
            )
            continue
        if lacking:
            assert observation.error is not None
            told = True
            finding = of_error(observation.error, hidden)
        else:
            finding = judged(check, case, observation)
            if hidden:
                finding = Finding(
                    finding.passed,
                    message=redact.message(check, finding),
                    where=redact.where(check, finding),
                )
        results.append(
            _result(case, check, "passed" if finding.passed else "failed", hidden, device, finding)
        )
    return results


def judged(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """What the judge of a check finds. What comes from beside student code may be anything: where a judge
    cannot read it, the check fails."""
    try:
        return decide(check, case, observation)
    except Exception:
        return failed("unjudged", _("what came back cannot be judged"))


# Where torch has no exception of its own for it, the libraries beneath say so in words.
_NO_MEMORY = re.compile(r"CUDA error: out of memory|CU\w+_STATUS_ALLOC_FAILED")


def ran_out_of_memory(error: StudentError) -> bool:
    """Whether an accelerator refused memory. What needs too much of it has met the CPU's limit before."""
    return error.type == "OutOfMemoryError" or (
        error.type in ("RuntimeError", "AcceleratorError") and bool(_NO_MEMORY.search(error.message))
    )


def _used_up(error: StudentError, hidden: bool) -> str:
    told = _("the accelerator had no memory left: end what else uses it, and check again")
    return (
        told
        if hidden
        else f"{told} ({sanitize(error.message.splitlines()[0] if error.message else '', 200)})"
    )


def unseen_case(
    case: RecordedCase, outcome: CheckOutcome, message: str, *, hidden: bool, device: str
) -> list[CheckResult]:
    """The checks of a case that gave no observation: the first tells why, the rest are skipped."""
    rest: CheckOutcome = outcome if outcome == "could_not_grade" else "skipped"
    return [
        _result(
            case,
            check,
            outcome if i == 0 else rest,
            hidden,
            device,
            Finding(False, message=message if i == 0 else _("not looked at")),
        )
        for i, check in enumerate(case.checks)
    ]


def lacks(check: Check, observation: Observation) -> bool:
    """Whether what a check looks at was never observed."""
    if check.judge == "parameters":
        return observation.parameters is None
    return any(name not in observation.seen and name not in observation.values for name in check.of)


def of_error(error: StudentError, hidden: bool) -> Finding:
    """An exception as a finding: what was raised, on which of the student's own lines.

    Of a hidden case only the exception's type is told, if it is one of Python's own: its text may hold the
    hidden input, and so may the name of a class that the student made.
    """
    said = "" if hidden else sanitize(error.message, 500)
    type_ = _("an exception") if hidden and not hasattr(builtins, error.type) else sanitize(error.type, 100)
    what = f"{type_}: {said}" if said else type_
    where = ""
    if error.where is not None:
        file, line, text = error.where
        where = _("{file}, line {line}").format(file=sanitize(file), line=line)
        where += f": {sanitize(text)}" if text and not hidden else ""
    return failed(f"!{error.type}", _("it raised {what}").format(what=what), where=where)


def _result(
    case: RecordedCase, check: Check, outcome: CheckOutcome, hidden: bool, device: str, finding: Finding
) -> CheckResult:
    """The line of one check. Of a hidden case, the finding holds only what may be told."""
    return CheckResult(
        id=check.id,
        facet=check.facet,
        title=_(check.title),
        outcome=outcome,
        device=device,
        dtype=case.dtype,
        visibility="hidden" if hidden else "public",
        message=sanitize(finding.message),
        expected=None if hidden else sanitize(finding.expected),
        got=None if hidden else sanitize(finding.got),
        where=sanitize(finding.where),
    )

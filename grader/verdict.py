"""From one case's observation to lines of the report."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterable, Sequence

import numpy as np

from grader import discreet
from grader.bundle import RecordedCase
from grader.checks import Check
from grader.i18n import _
from grader.judge import decide
from grader.judge.finding import Finding, departures, failed
from grader.kept import EMPTY
from grader.observation import Observation, StudentError
from grader.report.model import CheckOutcome, CheckResult
from grader.sanitize import sanitize
from grader.tensors import Array


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
                    message=discreet.message(check, finding),
                    where=discreet.where(check, finding),
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


def is_trivial(observations: Iterable[tuple[RecordedCase, Observation]]) -> bool:
    """Whether every result whose values are judged was had for nothing: see `_computed_nothing`.

    Only asked about answers whose values are wrong. Results that the reference, too, has for nothing
    (a single head, say) tell nothing.
    """
    judged = 0
    for case, observation in observations:
        for check in case.checks:
            if check.judge not in ("equal", "sentences") or check.facet not in ("values", "masking"):
                continue
            for name in check.of:
                seen, want = observation.seen.get(name), case.expected[name]
                if seen is None or seen.array is None or _computed_nothing(want, case):
                    continue
                judged += 1
                if seen.array.shape == want.shape and not departures(seen.array, want, 1e-3).any():
                    return False
                if not _computed_nothing(seen.array, case):
                    return False
    return judged > 0


def _computed_nothing(array: Array, case: RecordedCase) -> bool:
    """A constant, one of the inputs handed back, or the mean of one over an axis."""
    if array.size > 0 and np.ptp(np.nan_to_num(array.astype(np.float64))) == 0:
        return True
    return any(
        _is_handed_back(array, tensor) or _is_mean(array, tensor) or _is_copied(array, tensor)
        for tensor in case.tensors.values()
    )


def _is_handed_back(array: Array, tensor: Array) -> bool:
    """In any shape, or its leading part: a case may look at the first steps of a result alone."""
    parts = [tensor]
    if array.ndim == tensor.ndim:
        parts.append(tensor[tuple(slice(size) for size in array.shape)])
    return any(array.size == part.size and np.array_equal(array.ravel(), part.ravel()) for part in parts)


def _is_copied(array: Array, tensor: Array) -> bool:
    """Sentences that hold, as far as they go, the words of an input."""
    if array.ndim != 2 or tensor.ndim != 2 or len(array) != len(tensor) or array.dtype.kind != "i":
        return False
    width = min(array.shape[1], tensor.shape[1])
    part = array[:, :width]
    return bool(((part == EMPTY) | (part == tensor[:, :width])).all() and (array[:, width:] == EMPTY).all())


def _is_mean(array: Array, tensor: Array) -> bool:
    for axis in range(tensor.ndim if tensor.dtype.kind == "f" else 0):
        mean = tensor.astype(np.float64).mean(axis, keepdims=True)
        if _fits(mean.shape, array.shape) and np.allclose(array, mean, atol=1e-5):
            return True
    return False


def _fits(small: Sequence[int], large: Sequence[int]) -> bool:
    """Whether one shape can be broadcast to another of as many axes."""
    return len(small) == len(large) and all(s in (1, n) for s, n in zip(small, large, strict=True))

"""Choose the checks of a case that count, and the cases that need no run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grader.bundle.model import Exercise, RecordedCase
from grader.judge.finding import earlier_failed
from grader.judge.verdict import JudgedCase, unseen_case
from grader.support.i18n import _

MAX_LOST = 2  # cases of one exercise that may lose their worker before the rest is skipped


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


def skipped(
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

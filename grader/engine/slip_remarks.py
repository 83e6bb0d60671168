"""Show slips of Python with a result that did not pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from grader.intake.slips import Slip
from grader.report.model import ExerciseResult
from grader.support.sanitize import sanitize


def with_slips(result: ExerciseResult, slips: Sequence[Slip], codes: Mapping[str, str]) -> ExerciseResult:
    """Add slips to the remarks of a result that did not pass; if an exception is the cause, begin the diagnosis so.

    codes: check id → the code of its finding; that of an exception begins with "!".
    """
    if not slips or result.outcome not in ("failed", "blocked", "other_interface"):
        return result
    says = [sanitize(slip.sentence(), 400) for slip in slips]
    shown = replace(result, remarks=(*says, *result.remarks))
    if result.outcome != "failed" or result.diagnosis.alternatives:
        return shown
    if not any(code.startswith("!") for code in codes.values()):
        return shown
    first = "; ".join(filter(None, (says[0], result.diagnosis.says)))
    return replace(
        shown,
        remarks=(*says[1:], *result.remarks),
        diagnosis=replace(result.diagnosis, kind="unknown", says=first),
    )

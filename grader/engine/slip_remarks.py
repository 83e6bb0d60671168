"""Add slips (small errors that the text shows, see intake/slips.py) to a result that did not pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from grader.intake.read import Submission
from grader.intake.slips import slips
from grader.report.model import ExerciseResult
from grader.support.sanitize import sanitize


def with_slips(
    result: ExerciseResult, submission: Submission, name: str, codes: Mapping[str, str]
) -> ExerciseResult:
    """Return the result with the slips in the definition `name` as its first remarks, if it did not pass.

    If a check reports an exception or a timeout, and no known mistake was found, the first slip begins the
    diagnosis instead.

    codes: check id → the code of its finding; that of an exception begins with "!", of a timeout with "lost time".
    """
    if result.outcome not in ("failed", "blocked", "other_interface"):
        return result
    says = [sanitize(slip.sentence(), 400) for slip in slips(submission, name)]
    if not says:
        return result
    shown = replace(result, remarks=(*says, *result.remarks))
    if result.outcome != "failed" or result.diagnosis.alternatives:
        return shown
    if not any(code.startswith(("!", "lost time")) for code in codes.values()):
        return shown
    first = "; ".join(filter(None, (says[0], result.diagnosis.says)))
    return replace(
        shown,
        remarks=(*says[1:], *result.remarks),
        diagnosis=replace(result.diagnosis, kind="unknown", says=first),
    )

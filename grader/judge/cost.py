"""What is left of a module costs as much less as it is smaller."""

from __future__ import annotations

from grader.bundle import RecordedCase
from grader.case import Check
from grader.i18n import _
from grader.judge.finding import PASSED, Finding, failed
from grader.observation import Observation


def cost(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """Of what was counted before, at most `kept` parts of `total` are left, besides `fixed`, which stays whole.

    `of`: the count before and the count after. A module that gets by with less is no worse.
    """
    counts = []
    for name in check.of:
        count = observation.values.get(name)
        if not isinstance(count, (int, float)):
            return failed("odd", _("nothing could be counted"))
        counts.append(int(count))
    before, after = counts
    kept, total, fixed = (check.params[key] for key in ("kept", "total", "fixed"))
    want = (before - fixed) * kept // total + fixed
    if after <= want:
        return PASSED
    if after == before:
        return failed("whole", _("nothing has become smaller"), f"{want}", f"{after}")
    return failed(
        f"cost {after}",
        _("{after} of {before} are left, where {want} are enough").format(
            after=after, before=before, want=want
        ),
        f"{want}",
        f"{after}",
    )

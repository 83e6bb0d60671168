"""Judge what a module costs after pruning: the cost shrinks in proportion to the parts that are left."""

from __future__ import annotations

from typing import TypeGuard

from grader.bundle.check import Check
from grader.bundle.model import RecordedCase
from grader.judge.finding import PASSED, Finding, failed
from grader.judge.observation import Observation
from grader.support.i18n import _

MOST = 1 << 62  # a larger count can only be forged


def is_count(value: object) -> TypeGuard[int]:
    """Whether a value is a possible count. A worker that runs student code sends counts, so they may be anything."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < MOST


def cost(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """At most `kept` / `total` of the counted cost is left, besides `fixed`, which never shrinks.

    `of`: the count before and the count after. Somewhat less passes too, because not every way to multiply is
    counted. Less than a quarter of the expected count fails: no such module can work.
    """
    before, after = (observation.values.get(name) for name in check.of)
    if not (is_count(before) and is_count(after)):
        return failed("odd", _("the parameters or operations could not be counted"))
    kept, total, fixed = (check.params[key] for key in ("kept", "total", "fixed"))
    want = (before - fixed) * kept // total + fixed
    if after <= want:
        return PASSED if 4 * after >= want else _too_little(after, want)
    if after == before:
        return failed("whole", _("the model did not get smaller"), f"{want}", f"{after}")
    return failed(
        f"cost {after}",
        _("{after} of {before} remain, expected {want}").format(after=after, before=before, want=want),
        f"{want}",
        f"{after}",
    )


def _too_little(after: int, want: int) -> Finding:
    return failed(
        "little",
        _("only {after} remain, but about {want} are needed").format(after=after, want=want),
        f"{want}",
        f"{after}",
    )

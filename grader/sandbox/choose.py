"""Which tier there is on this machine, found by doing, and a launcher of the one asked for."""

from __future__ import annotations

import sys

from grader.sandbox.base import Launcher, SandboxError
from grader.sandbox.selftest import TierReport
from grader.sandbox.server import Program

LINUX_TIERS = ("strict", "landlock")  # best first
TIERS = (*LINUX_TIERS, "basic")
_TRANSIENT = "took too long"  # says something about the moment, not about the machine


def choose(
    asked: str = "auto", program: Program | None = None, *, ready: int = 1, warm: str = "none"
) -> Launcher:
    """A launcher of the tier asked for; "auto" is the best there is.

    Raises SandboxError with the step that fails when a tier asked for by name cannot be had, and
    ValueError for a name that is none. The options are those of `SandboxLauncher`; `basic` has none.
    """
    if asked not in ("auto", *TIERS):
        raise ValueError(f"{asked!r} is no sandbox tier: choose one of auto, {', '.join(TIERS)}")
    for tier in LINUX_TIERS if asked == "auto" else (asked,):
        if tier != "basic" and (report := report_on(tier)).available:
            from grader.sandbox.launcher import SandboxLauncher

            return SandboxLauncher(tier, program, ready=ready, warm=warm)
        if tier == asked != "basic":
            raise SandboxError(f"the {tier} sandbox cannot be had on this machine: {report.reason}")
    return _basic()


def available_tiers() -> tuple[str, ...]:
    """Names of the tiers that can be used here, best first; `basic` is always the last."""
    return tuple(report.tier for report in report_all() if report.available)


def report_all(fresh: bool = False) -> tuple[TierReport, ...]:
    """One report per tier, for `grader doctor`; `fresh` tries again whatever is remembered."""
    found = tuple(report_on(tier, fresh) for tier in LINUX_TIERS)
    return (*found, TierReport("basic", True, "works anywhere; nothing against a determined attacker"))


def report_on(tier: str, fresh: bool = False) -> TierReport:
    """What the self-test of a Linux tier says, remembered where it was made before."""
    if sys.platform != "linux":
        return TierReport(tier, False, f"needs Linux; this is {sys.platform}")
    from grader.sandbox import selftest, selftest_cache

    known = None if fresh else selftest_cache.recall(tier)
    if known is not None:
        return known
    report = selftest.examine(tier)
    if _TRANSIENT not in report.reason:
        selftest_cache.remember(report)
    return report


def _basic() -> Launcher:
    from grader.sandbox.basic import ColdLauncher

    return ColdLauncher()

"""Find out which tiers work on this machine, and start a launcher of a tier."""

from __future__ import annotations

import sys
from pkgutil import resolve_name

from grader.sandbox.base import (
    AUTO,
    CHOICES,
    TIERS,
    Launcher,
    Program,
    SandboxError,
    SharedServer,
    TierReport,
    Warm,
)
from grader.support.errors import UsageError
from grader.support.i18n import _

_OPEN_FILES = 128  # a run needs fewer than 90; a worker's descriptors start at 64 while it is set up
_TRANSIENT = "took too long"  # a report with such a reason is not cached: the machine was only busy


def choose(
    asked: str = AUTO, program: Program | None = None, *, warm: Warm = "", shared: int | None = None
) -> Launcher:
    """Start a launcher of the tier `asked`; "auto" is the best that works.

    program, warm and shared are those of `SandboxLauncher`; `basic` uses only `warm`. Raises SandboxError for an unknown
    name, and with the reason if the named tier does not work here.
    """
    name = best_tier(asked)
    tier = TIERS[name]
    if sys.platform != "linux" or not tier.confined:
        launcher: Launcher = resolve_name(tier.implementation)(warm=bool(warm))
        return launcher
    from grader.sandbox.launcher import SandboxLauncher

    return SandboxLauncher(name, program, warm=warm, shared=shared)


def server_to_share(asked: str, warm: Warm) -> SharedServer | None:
    """Start a worker server for several processes, see `Server.share`; None if the tier has none."""
    if sys.platform != "linux" or not TIERS[asked].confined:
        return None
    from grader.sandbox.launcher import Server

    return Server(asked, Program(), warm)


def best_tier(asked: str, refusal: str = "") -> str:
    """Return the name of the tier to use: for "auto" the best that works, else `asked`.

    refusal: for submissions that are not trusted, the sentence that refuses the tier `basic`. Raises UsageError with
    it, and SandboxError if the named tier does not work here.
    """
    if reason := _too_few_open_files():
        raise SandboxError(reason)
    works = (tier for tier in TIERS if report_on(tier).available)  # the tiers after it are not tested
    name = next(works) if asked == AUTO else asked
    if name not in TIERS:
        raise SandboxError(f"{name!r} is not a sandbox tier: choose one of {', '.join(CHOICES)}")
    if refusal and not TIERS[name].confined:
        raise UsageError(refusal)
    report = report_on(name)
    if not report.available:
        says = _("the {tier} sandbox does not work on this machine: {reason}")
        raise SandboxError(says.format(tier=name, reason=report.reason))
    return name


def report_all(fresh: bool = False) -> tuple[TierReport, ...]:
    """Return one report per tier, for `grader doctor`; `fresh` ignores cached self-tests."""
    return tuple(report_on(tier, fresh) for tier in TIERS)


def report_on(tier: str, fresh: bool = False) -> TierReport:
    """Report what the self-test of a tier found; from the cache, if nothing has changed since it ran."""
    if not TIERS[tier].confined:
        return TierReport(tier, True, _("works anywhere; does not stop a determined attacker"))
    if sys.platform != "linux":
        return TierReport(tier, False, f"needs Linux; this is {sys.platform}")
    if reason := _too_few_open_files():
        return TierReport(tier, False, reason)
    from grader.sandbox import selftest

    known = None if fresh else selftest.cached(tier)
    if known is not None:
        return known
    report = selftest.examine(tier)
    if _TRANSIENT not in report.reason:
        selftest.store(report)
    return report


def _too_few_open_files() -> str:
    """Return why no worker can start with this process's limit of open files; "" if it can."""
    if sys.platform == "win32":
        return ""
    import resource

    soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= _OPEN_FILES:
        return ""
    says = _(
        "the grader needs {needed} open files, and only {allowed} are allowed here: try `ulimit -n 1024`"
    )
    return says.format(needed=_OPEN_FILES, allowed=soft)

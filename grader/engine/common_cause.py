"""Report one cause instead of its many effects, after an answer was judged and no known mistake was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from grader.judge.verdict import SKIPPED, JudgedCase
from grader.report.model import CheckResult
from grader.support.i18n import _

RANDOM = "skipped-weights"  # the code of a check that was skipped because it saw values of random weights


@dataclass(frozen=True)
class Cause:
    """The checks to show instead of the judged ones.

    message: a sentence about the cause; "" without one.
    codes: check id → the new code of a check that became skipped.
    """

    checks: tuple[CheckResult, ...]
    message: str = ""
    codes: dict[str, str] = field(default_factory=dict)


def cause(judged: Sequence[JudgedCase]) -> Cause:
    """Return the checks with their common cause first. Checks that fail only because of it are skipped."""
    checks = tuple(check for one in judged for check in one.checks)
    return _one_exception(judged, checks) or _weights(judged, checks) or Cause(checks)


def _one_exception(judged: Sequence[JudgedCase], checks: tuple[CheckResult, ...]) -> Cause | None:
    """If every case raised the same exception, keep the first failed check and skip the other failed checks.

    Cases in which a check gave advice do not count.
    """
    counting = [one for one in judged if not any(check.outcome == "advice" for check in one.checks)]
    errors = [one.observation.error if one.observation else None for one in counting]
    same = {(e.type, e.message, e.where) if e else None for e in errors}
    if len(counting) < 2 or len(same) != 1 or None in same:
        return None
    failed = [check for check in checks if check.outcome == "failed"]
    if len(failed) < 2:
        return None
    return Cause(
        _skipping(checks, {check.id for check in failed[1:]}, _("skipped: the same exception")),
        _("every call raises the same exception: fix it first"),
        {check.id: SKIPPED for check in failed[1:]},
    )


def _weights(judged: Sequence[JudgedCase], checks: tuple[CheckResult, ...]) -> Cause | None:
    """If weights could not be loaded, put the check of the parameters first and skip checks that saw random weights.

    A code that begins with "!" is that of an exception: its check keeps its outcome.
    """
    about_parameters = {
        check.id
        for one in judged
        for check in one.case.checks
        if check.judge == "parameters" and not one.codes.get(check.id, "").startswith("!")
    }
    of_weights = {check.id for check in checks if check.outcome == "failed" and check.id in about_parameters}
    if not of_weights:
        return None
    parameters = [(one, one.observation.parameters) for one in judged if one.observation]
    unmatched = [
        one for one, found in parameters if found and (found.get("missing") or found.get("misshapen"))
    ]
    of_values = ((one, check) for one in unmatched for check in one.checks if check.facet != "shapes")
    on_random_weights = {
        check.id
        for one, check in of_values
        if check.outcome == "failed" and not one.codes[check.id].startswith("!")
    } - of_weights
    first = tuple(check for check in checks if check.id in of_weights)
    rest = tuple(check for check in checks if check.id not in of_weights)
    why = _("skipped: the weights of the case could not be loaded")
    return Cause(
        (*first, *_skipping(rest, on_random_weights, why)),
        _("the weights of the cases could not be loaded, because the parameters have other names or shapes"),
        dict.fromkeys(on_random_weights, RANDOM),
    )


def _skipping(checks: Sequence[CheckResult], ids: set[str], why: str) -> tuple[CheckResult, ...]:
    return tuple(
        replace(c, outcome="skipped", message=why, expected="", got="", where="") if c.id in ids else c
        for c in checks
    )

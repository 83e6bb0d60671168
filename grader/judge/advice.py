"""Collect failed checks per policy: what fails, where, and which known mistake explains it.

A policy is a kind of failure that gives advice and costs no points.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from grader.bundle.model import Exercise, KnownMistake
from grader.judge.finding import earlier_failed
from grader.report.model import Advice, CheckResult
from grader.support.i18n import _


def advice(
    exercise: Exercise, checks: Sequence[CheckResult], codes: Mapping[str, str], known: Collection[str]
) -> tuple[Advice, ...]:
    """Return one entry per policy that an answer breaks.

    codes: check id → the code of its finding; it begins with "!" for an exception. known: ids of the known mistakes
    that explain the failures.
    """
    found: dict[str, list[CheckResult]] = {}
    for check in checks:
        if check.outcome == "advice":
            found.setdefault(check.policy, []).append(check)
    out = []
    for policy, group in found.items():
        answers = [m for m in exercise.mistakes if m.policy == policy and m.id in known]
        # Prefer an exception: it has a line.
        first = next((c for c in group if codes.get(c.id, "").startswith("!")), group[0])
        says, asks = says_and_asks(answers[:1]) if answers else ("", "")
        reason, ids = f"{first.title}: {first.message}", tuple(answer.id for answer in answers)
        out.append(Advice(policy, says, asks, reason, first.where, ids, tuple(check.id for check in group)))
    return tuple(out)


def without_moot(
    exercise: Exercise, checks: Sequence[CheckResult], known: Collection[str]
) -> Iterator[CheckResult]:
    """Yield the checks of a failed answer. Advice is skipped unless a known mistake explains it.

    An answer that is wrong in float32 is often wrong in other dtypes too; this is no advice. known: as for `advice`.
    """
    explained = {m.policy for m in exercise.mistakes if m.id in known}
    for check in checks:
        if check.outcome == "advice" and check.policy not in explained:
            yield replace(check, outcome="skipped", message=earlier_failed(), expected="", got="", where="")
        else:
            yield check


def says_and_asks(mistakes: Sequence[KnownMistake]) -> tuple[str, str]:
    """Return the sentence about mistakes that occur together, and the question of the first."""
    says = _(" In addition: ").join(_(mistake.says) for mistake in mistakes)
    asks = mistakes[0].asks
    return says, _(asks) if asks else ""

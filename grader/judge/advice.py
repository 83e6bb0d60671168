"""Collect failed checks per policy: what fails, where, and which known mistake explains it.

A policy is a kind of failure that gives advice and costs no points.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from grader.bundle.model import Exercise, KnownMistake
from grader.judge.verdict import JudgedCheck
from grader.report.finding import EXCEPTION, Finding
from grader.report.model import Advice
from grader.report.writer import Writer
from grader.support.i18n import _


def advice(
    exercise: Exercise, checks: Sequence[JudgedCheck], known: Collection[str], writer: Writer
) -> tuple[Advice, ...]:
    """Return one entry per policy that an answer breaks. known: ids of the known mistakes that explain the failures."""
    found: dict[str, list[JudgedCheck]] = {}
    for one in checks:
        if one.outcome == "advice":
            found.setdefault(one.check.policy, []).append(one)
    out = []
    for policy, group in found.items():
        answers = [m for m in exercise.mistakes if m.policy == policy and m.id in known]
        # Prefer an exception: it has a line.
        first = next((one for one in group if one.finding.kind == EXCEPTION), group[0])
        says, asks = says_and_asks(answers[:1]) if answers else ("", "")
        reason = f"{_(first.check.title)}: {writer.message(first.finding)}"
        ids = tuple(answer.id for answer in answers)
        where = writer.where(first.finding)
        out.append(Advice(policy, says, asks, reason, where, ids, tuple(one.id for one in group)))
    return tuple(out)


def without_moot(
    exercise: Exercise, checks: Sequence[JudgedCheck], known: Collection[str]
) -> tuple[JudgedCheck, ...]:
    """Return the checks of a failed answer. Advice is skipped unless a known mistake explains it.

    An answer that is wrong in float32 is often wrong in other dtypes too; this is no advice. known: as for `advice`.
    """
    explained = {m.policy for m in exercise.mistakes if m.id in known}
    moot = {one.id for one in checks if one.outcome == "advice" and one.check.policy not in explained}
    return skipping(checks, moot, "skipped")


def skipping(checks: Sequence[JudgedCheck], ids: Collection[str], rule: str) -> tuple[JudgedCheck, ...]:
    """Return the checks; those with these ids are skipped, for the reason of the rule."""
    return tuple(replace(c, outcome="skipped", finding=Finding(rule)) if c.id in ids else c for c in checks)


def says_and_asks(mistakes: Sequence[KnownMistake]) -> tuple[str, str]:
    """Return the sentence about mistakes that occur together, and the question of the first."""
    says = _(" In addition: ").join(_(mistake.says) for mistake in mistakes)
    asks = mistakes[0].asks
    return says, _(asks) if asks else ""

"""Policies that a course lets count: their checks cost points like any other check."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from grader.bundle.check import Check
from grader.bundle.model import Bundle, Exercise, RecordedCase


def counting(bundles: Sequence[Bundle], policies: Collection[str]) -> list[Bundle]:
    """The bundles with all checks of these policies as checks that count."""
    if not policies:
        return list(bundles)
    return [
        replace(bundle, exercises=tuple(_exercise(exercise, policies) for exercise in bundle.exercises))
        for bundle in bundles
    ]


def _exercise(exercise: Exercise, policies: Collection[str]) -> Exercise:
    mistakes = tuple(
        replace(mistake, policy="", kind="mistake") if mistake.policy in policies else mistake
        for mistake in exercise.mistakes
    )
    return replace(exercise, cases=tuple(_case(case, policies) for case in exercise.cases), mistakes=mistakes)


def _case(case: RecordedCase, policies: Collection[str]) -> RecordedCase:
    return replace(case, checks=tuple(_check(check, policies) for check in case.checks))


def _check(check: Check, policies: Collection[str]) -> Check:
    return replace(check, policy="") if check.policy in policies else check

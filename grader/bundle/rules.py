"""Apply the settings of a course to its exercises: policies that count, points, weights, level of diagnosis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
from msgspec.structs import replace

from grader.bundle.model import Bundle, Exercise, KnownMistake, RecordedCase

FACTS, NAME, QUESTION, PAGE = range(4)  # what a diagnosis may say at most


@dataclass(frozen=True)
class Rules:
    """The rules of one course; without any, the exercises are as they were recorded.

    counted: policies that cost points. points: exercise → points. weights: facet → weight, in every exercise.
    own_weights: exercise → facet → weight; it overrides `weights`. level: what a diagnosis may say at most.
    """

    counted: frozenset[str] = frozenset()
    points: Mapping[str, float] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    own_weights: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    level: int = PAGE

    def apply(self, bundles: Sequence[Bundle]) -> list[Bundle]:
        """Return the bundles as these rules change them."""
        if self == NO_RULES:
            return list(bundles)
        return [replace(bundle, exercises=tuple(map(self._exercise, bundle.exercises))) for bundle in bundles]

    def words(self) -> str:
        """Return a text that is equal for equal rules; "" for none."""
        return "" if self == NO_RULES else msgspec.json.encode(self, order="deterministic").decode()

    def _exercise(self, exercise: Exercise) -> Exercise:
        level = min(exercise.level, self.level)
        return replace(
            exercise,
            points=self.points.get(exercise.name, exercise.points),
            weights={**exercise.weights, **self.weights, **self.own_weights.get(exercise.name, {})},
            level=level,
            cases=tuple(self._case(case) for case in exercise.cases),
            mistakes=tuple(self._mistake(mistake, level) for mistake in exercise.mistakes),
        )

    def _mistake(self, mistake: KnownMistake, level: int) -> KnownMistake:
        if mistake.policy in self.counted:
            mistake = replace(mistake, policy="", kind="mistake")
        asks = mistake.asks if level >= QUESTION else ""
        return replace(mistake, asks=asks, page=mistake.page if level >= PAGE else "")

    def _case(self, case: RecordedCase) -> RecordedCase:
        checks = (replace(c, policy="") if c.policy in self.counted else c for c in case.checks)
        return replace(case, checks=tuple(checks))


NO_RULES = Rules()

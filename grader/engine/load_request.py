"""What a worker is to hold when an exercise is graded, and the bounds it is held to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from grader.bundle.model import Exercise, RecordedCase
from grader.engine.student_parts import Part, content
from grader.engine.visibility import shown, with_requirements
from grader.given import BLOCKS, source
from grader.intake.read import Submission
from grader.sandbox.base import Limits

SHORT_SECONDS = 60.0  # at most, for loading a file and for a case that is not costly


@dataclass(frozen=True)
class Setting:
    """A submission that is loaded for one exercise.

    `replaced`: definitions that give way to the course's. `skip`: statements that do not end, and are left out.
    `parts`, `own`: the parts of earlier files, and of this one, that models may be made of.
    """

    submission: Submission
    exercise: Exercise
    replaced: tuple[str, ...] = ()
    skip: Sequence[tuple[str, int]] = ()
    parts: Sequence[Part] = ()
    own: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def content(self) -> str:
        """A hash of everything that a student wrote of it."""
        return content(self.submission, self.parts)

    @cached_property
    def sight(self) -> frozenset[str]:
        """What the exercise lets the submission see."""
        return shown(self.exercise)

    @property
    def bounds(self) -> Limits:
        return limits(self.exercise)

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for settings that one loading serves."""
        return (self.content, tuple(self.own), self.sight, self.replaced, tuple(self.skip))

    @property
    def files(self) -> frozenset[str]:
        """Names of the files whose lines may be told."""
        read = (self.submission, *(part.submission for part in self.parts))
        return frozenset(unit.name for file in read for unit in file.units)

    def request(self, device: str) -> dict[str, Any]:
        """What a worker is asked to load."""
        allowed = with_requirements(self.exercise.given)
        return {
            "op": "load",
            "device": device,
            "units": [vars(unit) for unit in self.submission.units],
            "given": {name: source(name) for name in allowed},
            "withheld": [name for name in BLOCKS if name not in allowed],
            "replace": list(self.replaced),
            "skip": list(self.skip),
            "parts": [part.request(self.replaced) for part in self.parts],
            "own": dict(self.own),
        }


def limits(exercise: Exercise) -> Limits:
    """The manifest's, and the defaults for what it does not name."""
    chosen = exercise.limits
    return Limits(
        wall_seconds=chosen.get("wall_seconds", Limits.wall_seconds),
        cpu_seconds=int(chosen.get("cpu_seconds", Limits.cpu_seconds)),
        memory_bytes=int(chosen.get("memory_bytes", Limits.memory_bytes)),
        output_bytes=int(chosen.get("output_bytes", Limits.output_bytes)),
    )


def patience(exercise: Exercise, case: RecordedCase) -> float:
    """Seconds for one case: only what is known to be costly may take all that the exercise may."""
    bounds = limits(exercise)
    return bounds.wall_seconds if case.costly else short(bounds)


def short(bounds: Limits) -> float:
    """Seconds for what need not take long."""
    return min(bounds.wall_seconds, SHORT_SECONDS)

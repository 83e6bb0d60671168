"""A request to load a submission into a worker for one exercise, and the limits of the worker."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from grader.bundle.model import Exercise, RecordedCase
from grader.engine.student_file import Part, content
from grader.engine.visibility import visible_blocks, with_requirements
from grader.given import BLOCKS, source
from grader.intake.read import Submission
from grader.intake.uses import units_to_run
from grader.sandbox.base import SHORT_SECONDS, Limits
from grader.worker.steps import Run

# Top-level statements that are left out because they timed out. After so many, all loops and all calls of the file's
# own definitions are left out, too.
MAX_ENDLESS = 3
BUSY_FACTOR = 30  # how much slower a worker may be on a busy machine


@dataclass(frozen=True)
class LoadRequest:
    """A submission to load for one exercise.

    aliases: exercise → the name it has in the submission.
    replaced: name of a definition in the student's files → the reference block that replaces it.
    keywords: name as in `replaced` → the student's keyword → the block's keyword.
    skip: top-level statements that timed out before, as (file, line).
    brief: leave out loops and calls of the file's own definitions at the top level.
    parts: the earlier files with parts that models may be made of.
    own: such parts in this file: exercise → the name it has in the submission.
    endless: the statements that timed out so far, see `leaves_out`.
    renamed: keyword of the exercise's constructor or function → the submission's parameter in its place.
    """

    submission: Submission
    exercise: Exercise
    aliases: Mapping[str, str] = field(default_factory=dict)
    replaced: Mapping[str, str] = field(default_factory=dict)
    keywords: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    skip: Sequence[tuple[str, int]] = ()
    brief: bool = False
    parts: Sequence[Part] = ()
    own: Mapping[str, str] = field(default_factory=dict)
    endless: list[tuple[str, int]] = field(default_factory=list, compare=False)
    renamed: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def content(self) -> str:
        """Return a hash of all student code in the request."""
        return content(self.submission, self.parts)

    @cached_property
    def visible_blocks(self) -> frozenset[str]:
        """Return what the exercise lets the submission see, see `visibility.visible_blocks`."""
        return visible_blocks(self.exercise)

    @cached_property
    def limits(self) -> Limits:
        return limits(self.exercise)

    def leaves_out(self, why: str, statement: tuple[str, int] | None) -> bool:
        """Remember a top-level statement that ran when its worker was lost; return whether it is now left out.

        why: see `WorkerGone`. A worker that computes within one call of C is killed at its limit of CPU time: it "died".
        """
        if statement is None or why not in ("time", "died") or len(self.endless) == MAX_ENDLESS:
            return False
        self.endless.append(statement)
        return True

    def skipping(self) -> LoadRequest:
        """Return this request, but without exactly the statements that timed out."""
        skip = tuple(self.endless)
        return replace(self, skip=skip, brief=len(skip) >= MAX_ENDLESS) if skip != tuple(self.skip) else self

    @cached_property
    def key(self) -> tuple[object, ...]:
        """Return a key. Requests with equal keys can share one loading."""
        replaced = tuple(self.replaced.items())
        return self.content, tuple(self.own), self.visible_blocks, replaced, tuple(self.skip), self.brief

    @property
    def files(self) -> frozenset[str]:
        """Return names of the files whose lines a report may name."""
        read = (self.submission, *(part.submission for part in self.parts))
        return frozenset(unit.name for file in read for unit in (*file.units, *file.neighbours))

    def message(self, device: str) -> dict[str, Any]:
        """Return the message that asks a worker to load the submission."""
        allowed = with_requirements(self.exercise.given)
        return {
            "op": "load",
            "seconds": default_timeout(self.limits),
            "device": device,
            "units": [vars(unit) for unit in units_to_run(self.submission, sorted(self.visible_blocks))],
            "neighbours": [vars(one) for one in self.submission.neighbours],
            "given": {name: source(name) for name in allowed},
            "withheld": [name for name in BLOCKS if name not in allowed],
            "replace": dict(self.replaced),
            "keywords": {name: dict(one) for name, one in self.keywords.items()},
            "skip": list(self.skip),
            "brief": self.brief,
            "parts": [part.request(self.replaced.values()) for part in self.parts],
            "own": dict(self.own),
            "keep": sorted({self.exercise.name, *self.aliases.values()}),
        }


def case_message(request: LoadRequest, case: RecordedCase) -> dict[str, Any]:
    """Return the message that asks a worker to run a case, and to record forbidden calls."""
    exercise = request.exercise
    run = Run(
        case.steps,
        case.dtype,
        aliases={name: alias for name, alias in request.aliases.items() if name != alias},
        renamed={exercise.name: request.renamed} if request.renamed else {},
        about=exercise.forbids,
    )
    return {"op": "run", "case": run}


def limits(exercise: Exercise) -> Limits:
    """Return the limits of the exercise, with defaults for those that it does not name."""
    whole = {name: int(value) for name, value in exercise.limits.items() if name != "wall_seconds"}
    return Limits(exercise.limits.get("wall_seconds", Limits.wall_seconds), **whole)


def case_timeout(exercise: Exercise, case: RecordedCase) -> float:
    """Return the seconds for one case. Only a costly case gets the whole time limit of the exercise."""
    chosen = limits(exercise)
    return chosen.wall_seconds if case.costly else default_timeout(chosen)


def default_timeout(limits: Limits) -> float:
    """Return seconds for a case that is not costly, and of CPU time for loading a file."""
    return min(limits.wall_seconds, SHORT_SECONDS)


def load_timeout(limits: Limits) -> float:
    """Return the seconds after which loading a file is given up.

    The worker itself stops a file that computes or waits too long (grader/worker/time_limit.py). This is much
    later: on a busy machine the worker gets little of the processor. On Windows the worker has no timers.
    """
    return default_timeout(limits) * (1 if sys.platform == "win32" else BUSY_FACTOR)

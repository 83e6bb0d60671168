"""What a worker gets to load: a submission and the building blocks that it may see; and the limits of the worker.

Code could store what it saw. So a worker is reused for the next exercise only if that exercise may see everything that
the one before could see. The engine orders exercises into chains in which this holds, because starting a worker takes
longer than most exercises.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from msgspec import structs

from grader.bundle.model import Exercise, RecordedCase
from grader.engine.student_file import CourseTables, Part, content
from grader.given import BLOCKS, requires, source
from grader.intake.names import Names
from grader.intake.read import Submission
from grader.intake.uses import units_to_run
from grader.sandbox.base import SHORT_SECONDS, Limits
from grader.worker.steps import Form, Run

BASE_CLASSES = (
    "Encoder",
    "Decoder",
    "AttentionDecoder",
)  # of Dive into Deep Learning; they contain no answer
BUSY_FACTOR = 30  # how much slower a worker may be on a busy machine


@dataclass(frozen=True)
class LoadRequest:
    """A submission to load for one exercise.

    aliases: exercise → the name it has in the submission.
    replaced: name of a definition in the student's files → the reference block that replaces it.
    keywords: name as in `replaced` → the student's keyword → the block's keyword.
    renamed, called: see `Interface`.
    parts: the earlier files with parts that models may be made of.
    own: such parts in this file: exercise → the name it has in the submission.
    skip: top-level statements that timed out before, as (file, line).
    form: how the class is built and called, if it is graded in the form of another school.
    brief: leave out loops and calls of the file's own definitions at the top level.
    """

    submission: Submission
    exercise: Exercise
    aliases: Mapping[str, str] = field(default_factory=dict)
    replaced: Mapping[str, str] = field(default_factory=dict)
    keywords: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)
    called: Mapping[str, Sequence[str]] = field(default_factory=dict)
    parts: Sequence[Part] = ()
    own: Mapping[str, str] = field(default_factory=dict)
    skip: tuple[tuple[str, int], ...] = ()
    brief: bool = False
    form: Form | None = None

    @cached_property
    def content(self) -> str:
        """A hash of all student code in the request."""
        return content(self.submission, self.parts)

    @cached_property
    def visible_blocks(self) -> frozenset[str]:
        return visible_blocks(self.exercise)

    @cached_property
    def limits(self) -> Limits:
        return limits(self.exercise)

    @cached_property
    def key(self) -> tuple[object, ...]:
        """Requests with equal keys can share one loading."""
        replaced = tuple(self.replaced.items())
        return self.content, tuple(self.own), self.visible_blocks, replaced, self.skip, self.brief

    @property
    def files(self) -> frozenset[str]:
        """The names of the files whose lines a report may name."""
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
            "replace": self.replaced,
            "keywords": self.keywords,
            "skip": self.skip,
            "brief": self.brief,
            "parts": [part.request(self.replaced.values()) for part in self.parts],
            "own": self.own,
            "keep": sorted({self.exercise.name, *self.aliases.values()}),
        }

    def run(self, case: RecordedCase) -> Run:
        """Return the case as the worker runs it: with the submission's names, and recording forbidden calls."""
        return Run(
            case.steps,
            case.dtype,
            aliases={name: alias for name, alias in self.aliases.items() if name != alias},
            renamed={self.exercise.name: self.renamed} if self.renamed else {},
            called=self.called,
            form=self.form,
            about=self.exercise.forbids,
        )


# ---- limits


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


# ---- which blocks a worker may see


def with_requirements(given: Iterable[str]) -> tuple[str, ...]:
    """Return the allowed blocks, BASE_CLASSES, and the blocks that these use, sorted by name."""
    found: set[str] = set()
    waiting = [*given, *BASE_CLASSES]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += requires(name)
    return tuple(sorted(found))


def visible_blocks(exercise: Exercise) -> frozenset[str]:
    """Return the blocks that an exercise may use, and an entry for the classes in its cases if there are any."""
    brought = {f"cases of {exercise.name}"} if exercise.brings_classes else set()
    return frozenset(with_requirements(exercise.given)) | brought


def offering(course: CourseTables, file: Names) -> CourseTables:
    """Return the tables with more blocks for each exercise: those that a file names and does not only define.

    A block that contains the answer is not among them.
    """
    text = "\n".join(unit.source for unit in file.units)
    named = {*re.findall(r"\w+", text)} - file.definitions.keys() | {*re.findall(r"\.(\w+)", text)}
    uses = {block: with_requirements([block]) for block in BLOCKS if block in named}
    exercises = dict(course.exercises)
    for name, exercise in course.exercises.items():
        more = [block for block in uses if block not in exercise.given and name not in uses[block]]
        if more and not exercise.is_made_of_parts:
            exercises[name] = structs.replace(exercise, given=(*exercise.given, *more))
    return replace(course, exercises=exercises)


def order_for_worker_reuse(exercises: Iterable[Exercise]) -> list[Exercise]:
    """Order exercises so that many can share a worker.

    Greedy, from the fewest visible blocks to the most: each exercise joins, of the chains that it may follow, the one
    whose last exercise sees the most blocks.
    """
    seen = {exercise.name: visible_blocks(exercise) for exercise in exercises}
    chains: list[list[Exercise]] = []
    for exercise in sorted(exercises, key=lambda e: (len(seen[e.name]), sorted(seen[e.name]))):
        may_follow = [chain for chain in chains if seen[chain[-1].name] <= seen[exercise.name]]
        if may_follow:
            max(may_follow, key=lambda chain: len(seen[chain[-1].name])).append(exercise)
        else:
            chains.append([exercise])
    return [exercise for chain in chains for exercise in chain]

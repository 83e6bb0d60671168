"""Decide which building blocks a worker may see, and order the exercises so that few workers are needed.

Code could store what it saw. So a worker is reused for the next exercise only if that exercise may see everything that
the one before could see. The engine orders exercises into chains in which this holds, because starting a worker takes
longer than most exercises.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from grader.bundle.model import Exercise
from grader.given import requires

# Base classes of Dive into Deep Learning; they contain no answer.
BASE_CLASSES = ("Encoder", "Decoder", "AttentionDecoder")


def with_requirements(given: Sequence[str]) -> tuple[str, ...]:
    """Return the allowed blocks, BASE_CLASSES, and the blocks that these use, sorted by name."""
    return _closure(tuple(given))


@cache
def _closure(given: tuple[str, ...]) -> tuple[str, ...]:
    out: list[str] = []
    waiting = [*given, *BASE_CLASSES]
    while waiting:
        name = waiting.pop(0)
        if name not in out:
            out.append(name)
            waiting += requires(name)
    return tuple(sorted(out))


def visible_blocks(exercise: Exercise) -> frozenset[str]:
    """Return the blocks that an exercise may use, and an entry for the classes in its cases if there are any."""
    brought = {f"cases of {exercise.name}"} if exercise.brings_classes else set()
    return frozenset(with_requirements(exercise.given)) | brought


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

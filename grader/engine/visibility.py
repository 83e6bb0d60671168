"""What a worker that grades an exercise gets to see of answers to others, and the order in which that hurts least.

Code could keep what it was shown. So a worker goes on from one exercise to another only when the second may
see all that the first could: what was kept is then nothing that is withheld. Exercises are graded in chains
of that kind, since a new worker costs more than the cases of most exercises.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from grader.bundle.model import Exercise
from grader.given import requires

BASE_CLASSES = ("Encoder", "Decoder", "AttentionDecoder")  # of the book; they answer nothing


def with_requirements(given: Sequence[str]) -> tuple[str, ...]:
    """The allowed blocks and those that they are made of, in a fixed order."""
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


def shown(exercise: Exercise) -> frozenset[str]:
    """Blocks that it may use, and classes that its cases bring along."""
    brought = {f"cases of {exercise.name}"} if exercise.brings_classes else set()
    return frozenset(with_requirements(exercise.given)) | brought


def in_chains(exercises: Iterable[Exercise]) -> list[Exercise]:
    """An order in which as many exercises as possible may follow one another in a worker: few are needed.

    Greedy: each joins the chain whose end shows most of what it may see, and few begin.
    """
    seen = {exercise.name: shown(exercise) for exercise in exercises}
    chains: list[list[Exercise]] = []
    for exercise in sorted(exercises, key=lambda e: (len(seen[e.name]), sorted(seen[e.name]))):
        may_follow = [chain for chain in chains if seen[chain[-1].name] <= seen[exercise.name]]
        if may_follow:
            max(may_follow, key=lambda chain: len(seen[chain[-1].name])).append(exercise)
        else:
            chains.append([exercise])
    return [exercise for chain in chains for exercise in chain]

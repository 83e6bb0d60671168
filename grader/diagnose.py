"""Name the known mistake that a wrong answer equals, or say that none fits. Never touches a verdict."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from grader.bundle import Exercise
from grader.observation import Observation
from grader.report.model import NO_DIAGNOSIS, Diagnosis, Kind
from grader.signature import signature
from grader.tensors import Array

# One's own mistake is found again within about 1e-6 in float32; the nearest other one is about 1e-2 away.
NEAR, FAR = 1e-4, 1e-2


def diagnose(exercise: Exercise, observations: Mapping[str, Observation]) -> Diagnosis:
    """What a failed answer equals. To be called only after the verdict said no."""
    table = exercise.signatures
    if table is None or not exercise.mistakes:
        return NO_DIAGNOSIS
    states, numbers = signature(exercise.cases, observations)
    distances = {}
    for known in exercise.mistakes:
        if tuple(table.states[known.row]) == states:
            distances[known.id] = _distance(numbers, table.numbers[known.row].astype(np.float64))
    near = [known for known in exercise.mistakes if distances.get(known.id, np.inf) < NEAR]
    between = [id for id, d in distances.items() if NEAR <= d < FAR]
    if not near or between:
        return Diagnosis("unknown")
    first = near[0]
    kind: Kind = "different" if first.kind == "different" else "exact" if len(near) == 1 else "one_of"
    return Diagnosis(kind, tuple((known.id,) for known in near), first.says, first.asks)


def _distance(got: Array, known: Array) -> float:
    """The largest departure over all slots, relative to the size of what stands there."""
    scale = 1 + np.abs(known).max(axis=1)
    return float((np.abs(got - known).max(axis=1) / scale).max(initial=0.0))

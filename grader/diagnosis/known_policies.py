"""Name the known policies that explain advice. They never explain a failure.

A known policy is a known mistake that costs no points: it fails only checks of its policy, which give advice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from grader.bundle.model import Exercise
from grader.diagnosis.distance import NEAR, distances
from grader.diagnosis.signature import named_by, signature
from grader.judge.verdict import JudgedCase


def of_passed(exercise: Exercise, judged: Mapping[str, JudgedCase]) -> tuple[str, ...]:
    """Return the ids of the known policies that an answer equals in all cases about their policy.

    Leave out a policy if a right answer equals the answer in these cases, too.
    The answer passed: everything else about it is right.
    """
    table, cases = exercise.signatures, named_by(exercise.cases)
    if table is None:
        return ()
    near = distances(table, *signature(cases, judged)) < NEAR
    about = {case.id: case.policy for case in cases}
    of_slot = np.array([about[slot.split("|")[0]] for slot in table.slots])
    policy = {mistake.id: mistake.policy for mistake in exercise.mistakes if mistake.policy}
    right = [row for row, ids in enumerate(table.explains) if not ids]
    equal = [
        ids[0]
        for row, ids in enumerate(table.explains)
        if len(ids) == 1 and ids[0] in policy and near[row, of_slot == policy[ids[0]]].all()
    ]
    # A policy is broken if no single right answer equals the answer in all cases about the policy.
    broken = {name for name in policy.values() if not near[right][:, of_slot == name].all(axis=1).any()}
    return tuple(dict.fromkeys(id for id in equal if policy[id] in broken))


def of_explanations(exercise: Exercise, known: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the ids of known policies in the explanations of a failed answer.

    A policy counts only if every explanation contains a mistake of it.
    """
    policy = {mistake.id: mistake.policy for mistake in exercise.mistakes}
    if not known:
        return ()
    sure = set.intersection(*({policy[id] for id in ids} for ids in known)) - {""}  # "": of no policy
    return tuple(dict.fromkeys(id for ids in known for id in ids if policy[id] in sure))


def without(exercise: Exercise, known: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Return the explanations with only the mistakes that cost points; leave out those that become empty."""
    costly = {mistake.id for mistake in exercise.mistakes if not mistake.policy}
    kept = (tuple(id for id in ids if id in costly) for ids in known)
    return tuple(dict.fromkeys(ids for ids in kept if ids))

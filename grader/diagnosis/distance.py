"""Measure how far the signature of an answer is from those of known mistakes and right answers, slot by slot.

A slot has a state, such as the shape or the exception, and numbers; see `signature.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from grader.bundle.model import Exercise, Signatures
from grader.bundle.safetensors import Array
from grader.diagnosis.signature import ANY, named_by, signature
from grader.judge.verdict import JudgedCase

# In float32 an answer is within about 1e-6 of its own mistake's row, and about 1e-2 from the nearest other row.
NEAR, FAR = 1e-4, 1e-2


def distances(
    table: Signatures, states: Sequence[str], numbers: Array, rows: Sequence[int] | None = None
) -> Array:
    """Return how far an answer is from each row of the table, per slot: (rows, slots).

    It is 0 if a state is ANY (any result fits, such as a random one), and infinite if the states differ otherwise.
    For equal states it is the largest difference of the numbers, divided by 1 + the row's largest absolute number; 0
    if one of the row's numbers is NaN.
    rows: indices of the rows to compare with; None means all.
    """
    mine = np.array(states, dtype=object)
    row_states = table.states if rows is None else table.states[list(rows)]
    row_numbers = table.numbers if rows is None else table.numbers[list(rows)]
    anything = (row_states == ANY) | (mine == ANY)
    is_open = anything | np.isnan(row_numbers).any(axis=2)
    difference = np.abs(row_numbers - numbers).max(axis=2, initial=0.0)
    difference = difference / (1 + np.abs(row_numbers).max(axis=2, initial=0.0))
    difference = np.where(is_open, 0.0, np.nan_to_num(difference, nan=np.inf))
    return np.where((row_states == mine) | anything, difference, np.inf)


@dataclass(frozen=True)
class Compared:
    """An answer compared with the table of known mistakes and right answers.

    states, numbers: the signature of the answer, (slots,) and (slots, projections). The computed arrays are
    (rows, slots); only `wrong` is (slots,).
    """

    table: Signatures
    states: Sequence[str]
    numbers: Array

    @cached_property
    def apart(self) -> Array:
        """Return the distances of the answer from each row."""
        return distances(self.table, self.states, self.numbers)

    @cached_property
    def wrong(self) -> Array:
        """Return per slot whether the answer differs from every right answer."""
        return np.asarray((self.apart[self._right] >= NEAR).all(axis=0))

    @cached_property
    def changed(self) -> Array:
        """Whether a mistake gives what no right answer gives."""
        table = self.table
        apart = [distances(table, table.states[row], table.numbers[row]) for row in self._right]
        return np.asarray((np.array(apart) >= NEAR).all(axis=0))

    @cached_property
    def shown(self) -> Array:
        """Whether the answer has a result that the mistake gives and that no right answer gives."""
        is_open = (self.table.states == ANY) | np.isnan(self.table.numbers).any(axis=2)
        return np.asarray(self.changed & (self.apart < NEAR) & ~is_open & self.wrong)

    @property
    def _right(self) -> list[int]:
        return [row for row, ids in enumerate(self.table.explains) if not ids]  # no mistake explains the row


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

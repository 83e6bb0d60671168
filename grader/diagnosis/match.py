"""Name the known mistake that a wrong answer matches. If none does, describe where the answer differs.

This never changes a verdict: it runs after the verdict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from grader.bundle.model import Exercise, RecordedCase, Signatures
from grader.bundle.safetensors import Array
from grader.diagnosis.combined_mistakes import together
from grader.diagnosis.facts import facts_about
from grader.diagnosis.signature import FAR, NEAR, Compared, distances, named_by, signature
from grader.judge.verdict import Budget, JudgedCase, JudgedCheck, JudgingTimeoutError
from grader.report.finding import Fact
from grader.report.model import Kind

SECONDS = 5.0  # of CPU time for finding a name; all known mistakes and pairs are found in a hundredth of that


@dataclass(frozen=True)
class Diagnosed:
    """A diagnosis as data. kind, alternatives: as in `Diagnosis`; without alternatives, the facts describe the answer.

    policies: ids of the known policies that explain advice.
    """

    kind: Kind = "none"
    alternatives: tuple[tuple[str, ...], ...] = ()
    facts: tuple[Fact, ...] = ()
    policies: tuple[str, ...] = ()


NOTHING = Diagnosed()


def diagnose(
    exercise: Exercise, judged: Mapping[str, JudgedCase], checks: Sequence[JudgedCheck]
) -> Diagnosed:
    """Return the known mistakes that a failed answer matches; if none does, facts and the first stage that differs.

    judged: case id → what the judges found, for cases with an observation. If all checks that count passed, only
    policies are searched. If the search takes more than SECONDS of CPU time, or the course allows only facts (level 0),
    no mistake is named.
    """
    checks = [check for check in checks if check.counts]
    if all(check.outcome == "passed" for check in checks):
        return Diagnosed(policies=_policies_of_passed(exercise, judged) if exercise.level else ())
    try:
        known = explanations(exercise, judged, Budget(SECONDS)) if exercise.level else ()
    except JudgingTimeoutError:
        known = ()
    advised = _policies_in(exercise, known)
    if mistakes := _costly(exercise, known):
        return Diagnosed(_kind(exercise, mistakes), mistakes, policies=advised)
    kind: Kind = "unknown" if exercise.signatures is not None else "none"
    return Diagnosed(kind, facts=tuple(facts_about(exercise, judged, checks)), policies=advised)


def explanations(
    exercise: Exercise, judged: Mapping[str, JudgedCase], budget: Budget | None = None
) -> tuple[tuple[str, ...], ...]:
    """Return the mistakes that explain an answer: each alternative is a tuple of ids, the shortest first.

    In an alternative, mistakes of the kind "policy" come last. Raises JudgingTimeoutError if the budget is spent.
    """
    if exercise.signatures is None:
        return ()
    cases = named_by(exercise.cases)
    found = known_rows(exercise.signatures, cases, *signature(cases, judged), budget)
    kinds = {mistake.id: mistake.kind for mistake in exercise.mistakes}
    return tuple(tuple(sorted(ids, key=lambda id: kinds[id] == "policy")) for ids in found)


def known_rows(
    table: Signatures,
    cases: Sequence[RecordedCase],
    states: Sequence[str],
    numbers: Array,
    budget: Budget | None = None,
) -> tuple[tuple[str, ...], ...]:
    """Return the mistakes and pairs whose signature the answer has; else several mistakes that explain it together.

    Return () if another known mistake or a right answer is too similar: no name is better than a wrong one. Raises
    JudgingTimeoutError if the budget is spent.
    """
    answer = Compared(table, states, numbers)
    whole = answer.apart.max(axis=1, initial=0.0)
    seen = np.asarray(answer.shown.any(axis=1))
    # A mistake is near only if the answer has its wrong result in some slot. A right answer has no wrong result.
    near = dict.fromkeys(
        table.explains[row] for row in np.flatnonzero(whole < NEAR) if seen[row] or not table.explains[row]
    )
    doubtful = {table.explains[row] for row in np.flatnonzero((whole >= NEAR) & (whole < FAR))}
    if not near and not doubtful:
        return together(answer, cases, budget or Budget())
    # A doubtful pair does not count if one of its mistakes is near alone: the other hardly changes the values.
    sure = all(any(set(one) <= set(ids) for one in near) for ids in doubtful)
    fewest = [ids for ids in near if not any(set(one) < set(ids) for one in near)]
    return tuple(sorted(fewest, key=len)) if sure and () not in near else ()


def _kind(exercise: Exercise, known: tuple[tuple[str, ...], ...]) -> Kind:
    # Valid designs that the exercise does not ask for.
    different = {mistake.id for mistake in exercise.mistakes if mistake.kind == "different"}
    return "one_of" if len(known) > 1 else "different" if different.issuperset(known[0]) else "exact"


# ---- policies: known mistakes that cost no points


def _policies_of_passed(exercise: Exercise, judged: Mapping[str, JudgedCase]) -> tuple[str, ...]:
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


def _policies_in(exercise: Exercise, known: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Return the ids of known policies in the explanations of a failed answer.

    A policy counts only if every explanation contains a mistake of it.
    """
    policy = {mistake.id: mistake.policy for mistake in exercise.mistakes}
    if not known:
        return ()
    sure = set.intersection(*({policy[id] for id in ids} for ids in known)) - {""}  # "": of no policy
    return tuple(dict.fromkeys(id for ids in known for id in ids if policy[id] in sure))


def _costly(exercise: Exercise, known: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Return the explanations with only the mistakes that cost points; leave out those that become empty."""
    costly = {mistake.id for mistake in exercise.mistakes if not mistake.policy}
    kept = (tuple(id for id in ids if id in costly) for ids in known)
    return tuple(dict.fromkeys(ids for ids in kept if ids))

"""Name the known mistake that a wrong answer matches. If none does, describe where the answer differs.

This never changes a verdict: it runs after the verdict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from grader.bundle.model import Exercise, RecordedCase, Signatures
from grader.bundle.safetensors import Array
from grader.diagnosis import distance, facts
from grader.diagnosis.combined_mistakes import together
from grader.diagnosis.distance import FAR, NEAR, Compared
from grader.diagnosis.signature import named_by, signature
from grader.judge.compare import TOLERANCE, differs, wrong_form
from grader.judge.observation import Observation
from grader.judge.verdict import Budget, JudgedCase, JudgedCheck, JudgingTimeoutError
from grader.report.finding import EXCEPTION, Fact
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
        return Diagnosed(policies=distance.of_passed(exercise, judged) if exercise.level else ())
    try:
        known = explanations(exercise, judged, Budget(SECONDS)) if exercise.level else ()
    except JudgingTimeoutError:
        known = ()
    advised = distance.of_explanations(exercise, known)
    if mistakes := distance.without(exercise, known):
        return Diagnosed(_kind(exercise, mistakes), mistakes, policies=advised)
    kind: Kind = "unknown" if exercise.signatures is not None else "none"
    return Diagnosed(kind, facts=tuple(_facts(exercise, judged, checks)), policies=advised)


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
    return tuple(sorted(near, key=len)) if sure and () not in near else ()


def _kind(exercise: Exercise, known: tuple[tuple[str, ...], ...]) -> Kind:
    # Valid designs that the exercise does not ask for.
    different = {mistake.id for mistake in exercise.mistakes if mistake.kind == "different"}
    return "one_of" if len(known) > 1 else "different" if different.issuperset(known[0]) else "exact"


# ---- where, when nothing matches ----------------------------------------------------------------------------


def _facts(exercise: Exercise, judged: Mapping[str, JudgedCase], checks: Sequence[JudgedCheck]) -> list[Fact]:
    failed = {check.facet for check in checks if check.outcome != "passed"}
    passed = {check.facet for check in checks if check.outcome == "passed"}
    return [
        *facts.of_facets(failed, passed),
        *([] if _raised_first(checks) else _of_first_wrong(exercise, judged)),
        *first_stage(exercise, judged),
        *(_of_shown_exception(exercise, judged, checks) if exercise.level else ()),
    ]


def _of_shown_exception(
    exercise: Exercise, judged: Mapping[str, JudgedCase], checks: Sequence[JudgedCheck]
) -> list[Fact]:
    """If the case of the first failed check raised an exception about sizes, say where these sizes come from."""
    first = next((check.id for check in checks if check.outcome == "failed"), "")
    seen = [(found.error, case) for case in exercise.cases if (found := _observation(judged, case.id))]
    shown = (at for at, (_error, case) in enumerate(seen) if any(check.id == first for check in case.checks))
    return facts.of_sizes(seen[next(shown, len(seen)) :])


def _raised_first(checks: Sequence[JudgedCheck]) -> bool:
    """Whether the failure that a report shows is an exception. Then no value of another case explains it."""
    return next(one.finding.kind for one in checks if one.outcome != "passed") == EXCEPTION


def _of_first_wrong(exercise: Exercise, judged: Mapping[str, JudgedCase]) -> list[Fact]:
    for case in exercise.cases:
        observation = _observation(judged, case.id)
        if observation is None:
            continue
        compared = (check for check in case.checks if check.judge == "equal" and not check.policy)
        for name in (name for check in compared for name in check.of):
            seen, header, want = observation.seen.get(name), case.headers[name], case.expected[name]
            if seen is None or wrong_form(seen, header) is not None or seen.array is None:
                continue
            tolerance = TOLERANCE[case.dtype]
            if differs(seen.array, want, tolerance).any():
                lens = [tensor for name, tensor in case.tensors.items() if "valid_len" in name]
                known = lens[0] if len(lens) == 1 else None
                return facts.of_numbers(seen.array, want, header.axes, tolerance, known)
    return []


def _observation(judged: Mapping[str, JudgedCase], case: str) -> Observation | None:
    return judged[case].observation if case in judged else None


def first_stage(exercise: Exercise, judged: Mapping[str, JudgedCase]) -> list[Fact]:
    """Return a fact about the first wrong stage: an intermediate result that a case watches.

    Stages that were not observed are skipped.
    """
    for case in exercise.cases:
        observation = _observation(judged, case.id)
        if observation is None:
            continue
        for stage in case.stages:
            name = stage.name
            seen = observation.seen.get(name)
            if seen is None or name not in case.expected:
                continue
            want, tolerance = case.expected[name], 10 * TOLERANCE[case.dtype]
            if seen.array is None or seen.shape != want.shape or differs(seen.array, want, tolerance).any():
                return [Fact("stage", {"stage": stage.title})]
    return []

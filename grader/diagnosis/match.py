"""Name the known mistake that a wrong answer equals, or say that none fits and where it departs.

Never touches a verdict: it is asked only after the verdict has said no.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from grader.bundle.model import Exercise, KnownMistake, Signatures
from grader.bundle.safetensors import Array
from grader.diagnosis import facts
from grader.diagnosis.signature import ANY, named_by, signature
from grader.judge.finding import TOLERANCE, departures, wrong_form
from grader.judge.observation import Observation
from grader.report.model import CheckResult, Diagnosis, Kind
from grader.support.i18n import _

# One's own mistake is found again within about 1e-6 in float32; the nearest other one is about 1e-2 away.
NEAR, FAR = 1e-4, 1e-2


def diagnose(
    exercise: Exercise, observations: Mapping[str, Observation], checks: Sequence[CheckResult]
) -> Diagnosis:
    """What a failed answer equals; where nothing known fits, facts and the first stage that departs."""
    known = explanations(exercise, observations) if exercise.level else ()
    if known:
        return _named(exercise, known)
    says = " ".join(
        f"{sentence[:1].upper()}{sentence[1:]}." for sentence in _facts(exercise, observations, checks)
    )
    return Diagnosis("unknown" if exercise.signatures is not None else "none", (), says)


def explanations(exercise: Exercise, observations: Mapping[str, Observation]) -> tuple[tuple[str, ...], ...]:
    """Mistakes and pairs that an answer cannot be told from, fewest mistakes first.

    None when another known one is too close to be sure: better no name than a wrong one.
    """
    table = exercise.signatures
    if table is None:
        return ()
    distances = _distances(table, *signature(named_by(exercise.cases), observations))
    near = dict.fromkeys(table.explains[row] for row in np.flatnonzero(distances < NEAR))
    doubtful = {table.explains[row] for row in np.flatnonzero((distances >= NEAR) & (distances < FAR))}
    # A pair that hardly moves what one of its mistakes alone explains puts that one in no doubt.
    sure = all(any(set(one) <= set(ids) for one in near) for ids in doubtful)
    return tuple(sorted(near, key=len)) if sure and () not in near else ()


def _distances(table: Signatures, states: Sequence[str], numbers: Array) -> Array:
    """For every row the largest departure over all slots, relative to the size of what stands there;
    infinite where a state differs."""
    mine = np.array(states, dtype=object)
    agree = ((table.states == mine) | (table.states == ANY) | (mine == ANY)).all(axis=1)
    out = np.full(len(table.explains), np.inf)
    rows = table.numbers[agree]
    if rows.size:
        free = (table.states[agree] == ANY) | (mine == ANY)
        departs = np.abs(rows - numbers).max(axis=2) / (1 + np.abs(rows).max(axis=2))
        free |= np.isnan(rows).any(axis=2)
        out[agree] = np.where(free, 0.0, np.nan_to_num(departs, nan=np.inf)).max(axis=1)
    elif agree.any():
        out[agree] = 0.0
    return out


def _named(exercise: Exercise, known: tuple[tuple[str, ...], ...]) -> Diagnosis:
    table = {mistake.id: mistake for mistake in exercise.mistakes}
    first = [table[id] for id in known[0]]
    kind: Kind = "one_of" if len(known) > 1 else "different" if _all_different(first) else "exact"
    says = _(" And at once: ").join(_(mistake.says) for mistake in first)
    return Diagnosis(kind, known, says, _(first[0].asks))


def _all_different(mistakes: Sequence[KnownMistake]) -> bool:
    return all(mistake.kind == "different" for mistake in mistakes)


# ---- where, when nothing matches ----------------------------------------------------------------------------


def _facts(
    exercise: Exercise, observations: Mapping[str, Observation], checks: Sequence[CheckResult]
) -> list[str]:
    failed: dict[str, bool] = {}
    for check in checks:
        failed[check.facet] = failed.get(check.facet, False) or check.outcome != "passed"
    together = facts.of_facets(failed)
    return [
        *([together] if together else []),
        *_of_first_wrong(exercise, observations),
        *first_stage(exercise, observations),
    ]


def _of_first_wrong(exercise: Exercise, observations: Mapping[str, Observation]) -> list[str]:
    """The pattern in the first result that departs."""
    for case in exercise.cases:
        for check in case.checks:
            for name in check.of if check.judge == "equal" and case.id in observations else ():
                seen, header = observations[case.id].seen.get(name), case.headers[name]
                if seen is None or wrong_form(seen, header) is not None or seen.array is None:
                    continue
                if departures(seen.array, case.expected[name], TOLERANCE[case.dtype]).any():
                    return facts.of_numbers(
                        seen.array, case.expected[name], header.axes, TOLERANCE[case.dtype]
                    )
    return []


def first_stage(exercise: Exercise, observations: Mapping[str, Observation]) -> list[str]:
    """The first watched stage whose output departs from the reference, where all before it agree."""
    for case in exercise.cases:
        watched = [stage for step in case.steps if step["do"] == "stages" for stage in step["of"]]
        observation = observations.get(case.id)
        for path, title in watched if observation is not None else ():
            assert observation is not None
            name = f"stage {path}"
            seen = observation.seen.get(name)
            if seen is None or name not in case.expected:
                continue
            want = case.expected[name]
            if (
                seen.array is None
                or seen.shape != want.shape
                or departures(seen.array, want, 10 * TOLERANCE[case.dtype]).any()
            ):
                return [_("the first stage that departs is {stage}").format(stage=_(title))]
    return []

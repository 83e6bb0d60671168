"""Record what known mistakes, and pairs of them, give on the cases of an exercise."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from grader.authoring.bank import KnownAnswer, apply
from grader.authoring.content import Assignment
from grader.authoring.observe import definitions, observe
from grader.bundle.model import RecordedCase, Signatures
from grader.bundle.safetensors import Array
from grader.diagnosis.signature import ANY, only_precision, signature, slots
from grader.judge.verdict import judge_all

LOOKS = 4  # at a mistake that draws: what it gives every time is what it is known by
VARIES = 1e-6  # above the rounding of float64


def signatures(
    assignment: Assignment,
    mistakes: Sequence[KnownAnswer],
    cases: Sequence[RecordedCase],
    given: Sequence[str],
    *,
    paired: Sequence[str],
) -> Signatures:
    """What the reference (the first row), each mistake, and each pair of independent ones among `paired` give."""
    reference = definitions(assignment.source)
    others = assignment.alternatives(mistakes[0].of)
    rows: list[tuple[tuple[str, ...], str]] = [((), reference)]
    for one in mistakes:
        rows += [((one.id,), source) for source in _forms([one], reference, others)]
    for one, other in combinations([m for m in mistakes if m.steady and m.id in paired], 2):
        if _independent(one, other, reference):
            rows += [((one.id, other.id), source) for source in _forms([one, other], reference, others)]
    unseen = {(m.id,) for m in mistakes if m.kind == "policy" and m.breaks == ("precision",)}
    drawing = {(m.id,) for m in mistakes if not m.steady}
    known: list[_Row] = []
    for ids, source in rows:
        looks = [
            _row(ids, source, cases, given, known[0] if known else None, ids in unseen, look)
            for look in range(LOOKS if ids in drawing else 1)
        ]
        known.append(_in_common(looks))
    kept = list(_told_apart(known))
    return Signatures(
        slots=slots(cases),
        explains=tuple(row.explains for row in kept),
        states=np.array([row.states + row.elsewhere for row in kept], dtype=object),
        numbers=np.array(
            [np.pad(row.numbers, ((0, len(row.elsewhere)), (0, 0))) for row in kept], dtype=np.float64
        ),
    )


class _Row(NamedTuple):
    """What one way to be wrong gives; `elsewhere`: its states in the cases about precision, which come last."""

    explains: tuple[str, ...]
    states: tuple[str, ...]
    numbers: Array
    elsewhere: tuple[str, ...] = ()


def _row(
    ids: tuple[str, ...],
    source: str,
    cases: Sequence[RecordedCase],
    given: Sequence[str],
    reference: _Row | None,
    unseen: bool,
    look: int,
) -> _Row:
    """`unseen`: float32 tells nothing of it. (It would stop in the float64 that everything is recorded in.)

    What float32 does tell keeps its name whatever it does in other dtypes: there it is left open.
    """
    here = [case for case in cases if not only_precision(case)]
    there = [case for case in cases if only_precision(case)]
    if reference is not None and unseen:
        row = reference._replace(explains=ids)
    else:
        row = _Row(ids, *signature(here, judge_all(here, observe(source, given, here, look=look))))
    if reference is not None and not _alike(row, reference):
        return row._replace(elsewhere=(ANY,) * sum(len(case.checks) for case in there))
    seen = {case.id: observe(source, given, [case], case.dtype, look)[case.id] for case in there}
    return row._replace(elsewhere=signature(there, judge_all(there, seen))[0])


def _in_common(looks: Sequence[_Row]) -> _Row:
    """What several looks at an answer that draws agree in; what varies is left open: any state, no number."""
    first = looks[0]
    numbers = np.array([row.numbers for row in looks])  # (looks, slots, projections)
    varies = (np.abs(numbers - numbers[0]) > VARIES * (1 + np.abs(numbers[0]))).any(axis=(0, 2))
    return first._replace(
        states=_states_in_common([row.states for row in looks]),
        elsewhere=_states_in_common([row.elsewhere for row in looks]),
        numbers=np.where(varies[:, None], np.nan, first.numbers),
    )


def _states_in_common(looks: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(slot[0] if len(set(slot)) == 1 else ANY for slot in zip(*looks, strict=True))


def _alike(one: _Row, other: _Row) -> bool:
    return one.states == other.states and bool(np.abs(one.numbers - other.numbers).max(initial=0.0) < 1e-6)


def _independent(one: KnownAnswer, other: KnownAnswer, source: str) -> bool:
    """Whether two mistakes change different places: then their order does not matter."""
    if one.code or other.code or "mistake" not in (one.kind, other.kind):
        return False
    try:
        return apply([one, other], source, exactly=False) == apply([other, one], source, exactly=False)
    except ValueError:
        return False


def _told_apart(rows: Sequence[_Row]) -> Iterator[_Row]:
    """All single mistakes, and the pairs that give something else than the reference and than each single."""
    singles = [row for row in rows if len(row.explains) < 2]
    for row in rows:
        if len(row.explains) < 2 or not any(_alike(row, single) for single in singles):
            yield row


def _forms(mistakes: Sequence[KnownAnswer], source: str, others: Sequence[KnownAnswer]) -> list[str]:
    """The mistakes in the reference, and in each answer on an equal footing that holds the same pieces."""
    forms = [apply(mistakes, source, exactly=len(mistakes) == 1)]
    for other in others if all(m.edits for m in mistakes) else ():
        with contextlib.suppress(ValueError):  # a piece that is not there: the mistake is about it
            forms.append(apply([other, *mistakes], source, exactly=False))
    return forms

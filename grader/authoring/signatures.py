"""Record what known mistakes, and pairs of them, give on the cases of an exercise.

A slot is one observation, or one check, of one case. A signature has a state and two values per slot; see
grader/diagnosis/signature.py.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from grader.authoring.bank import KnownAnswer, apply
from grader.authoring.content import Assignment
from grader.authoring.observe import observe
from grader.bundle.model import PRECISION, RecordedCase, Signatures
from grader.bundle.safetensors import Array
from grader.diagnosis.signature import ANY, only_precision, signature, slots, tells_apart
from grader.judge.verdict import judge_all
from grader.support.code import definitions
from grader.support.errors import UsageError

# Runs of a mistake, with other random numbers. If the first two differ, its row has the results that all runs share.
RNG_REPEATS = 4
VARIES = 1e-6  # values of two runs that differ by more vary from run to run; float64 rounds far below it


def signatures(
    assignment: Assignment,
    mistakes: Sequence[KnownAnswer],
    cases: Sequence[RecordedCase],
    given: Sequence[str],
    *,
    paired: Sequence[str],
) -> Signatures:
    """Record the results of the reference, of other right answers (`bank.also`), of mistakes, and of pairs of them.

    The reference is the first row. The pairs are those of `paired` whose edits are independent.
    """
    reference = definitions(assignment.source)
    others = assignment.alternatives(mistakes[0].of)
    table = _Table(cases, given)
    # `_forms` of no mistake: the reference, then the other right answers.
    right = [table.reference(source) for source in _forms([], reference, others)]
    rows = list(right)
    for one in mistakes:
        for form in (one, *one.forms):
            rows += [table.row([one], source, right) for source in _forms([form], reference, others)]
    for pair in combinations([m for m in mistakes if m.id in paired and m.id not in table.random], 2):
        if _independent(*pair, reference):
            rows += [table.row(pair, source, right) for source in _forms(pair, reference, others)]
    places = slots(cases)
    # Right answers, single mistakes, and each pair that differs from all of these.
    singles = [row for row in rows if len(row.explains) < 2]
    distinct = [row for row in rows if len(row.explains) < 2 or not any(_alike(row, one) for one in singles)]
    kept = _opened(distinct, [tells_apart(place) for place in places])
    return Signatures.of(
        slots=places,
        explains=tuple(row.explains for row in kept),
        states=np.array([row.states + row.dtype_states for row in kept], dtype=object),
        # Slots of cases about precision have states only: their values are padded with zeros.
        numbers=np.array(
            [np.pad(row.numbers, ((0, len(row.dtype_states)), (0, 0))) for row in kept], dtype=np.float64
        ),
    )


class _Row(NamedTuple):
    """The signature of one answer. explains: ids of its mistakes. dtype_states: in cases about precision, which are last."""

    explains: tuple[str, ...]
    states: tuple[str, ...]
    numbers: Array
    dtype_states: tuple[str, ...] = ()


class _Table:
    def __init__(self, cases: Sequence[RecordedCase], given: Sequence[str]):
        self.cases = [case for case in cases if not only_precision(case)]
        self.dtype_cases = [case for case in cases if only_precision(case)]
        self.given = given
        self.random: set[str] = set()  # ids of mistakes whose results depend on random numbers

    def reference(self, source: str) -> _Row:
        row = self._in_float64((), source, rng_seed=0)
        return self._with_dtypes(row, source, rng_seed=0)

    def row(self, mistakes: Sequence[KnownAnswer], source: str, right: Sequence[_Row]) -> _Row:
        """Return the row of one mistake or of several at once. right: rows of the right answers.

        A single mistake is run with other random numbers, too. Raises UsageError if every result that shows the mistake
        depends on them.
        """
        runs = [self._run(mistakes, source, right, 0)]
        if len(mistakes) > 1:
            return runs[0]
        runs.append(self._run(mistakes, source, right, 1))
        if runs[0].dtype_states == runs[1].dtype_states and _alike(*runs):
            return runs[0]
        self.random.add(mistakes[0].id)
        row = _agreed(runs + [self._run(mistakes, source, right, seed) for seed in range(2, RNG_REPEATS)])
        if not _shows(row, right):
            raise UsageError(
                f"{mistakes[0].of}: {mistakes[0].id}: every wrong result depends on random numbers, so no result names the"
                " mistake. Add a case that shows it whatever the numbers are"
            )
        return row

    def _run(
        self, mistakes: Sequence[KnownAnswer], source: str, right: Sequence[_Row], rng_seed: int
    ) -> _Row:
        """Run one mistake or several at once, a single time.

        If they change a case that is not about precision, the results in cases about precision stay open (ANY).
        So a report names the mistake whatever it does in other dtypes.
        """
        explains = tuple(mistake.id for mistake in mistakes)
        if all(m.policy == PRECISION for m in mistakes):
            # They are right in float32, so they have the reference's row. In float64, where they may raise, they are
            # not run.
            row = right[0]._replace(explains=explains)
        else:
            row = self._in_float64(explains, source, rng_seed)
        if not any(_alike(row, one) for one in right):
            return row._replace(dtype_states=(ANY,) * sum(len(case.checks) for case in self.dtype_cases))
        return self._with_dtypes(row, source, rng_seed)

    def _in_float64(self, explains: tuple[str, ...], source: str, rng_seed: int) -> _Row:
        seen = observe(source, self.given, self.cases, rng_seed=rng_seed)
        return _Row(explains, *signature(self.cases, judge_all(self.cases, seen)))

    def _with_dtypes(self, row: _Row, source: str, rng_seed: int) -> _Row:
        cases = self.dtype_cases
        seen = {c.id: observe(source, self.given, [c], c.dtype, rng_seed)[c.id] for c in cases}
        return row._replace(dtype_states=signature(cases, judge_all(cases, seen))[0])


def _shows(row: _Row, right: Sequence[_Row]) -> bool:
    """Whether a result that is not open differs from those of all right answers."""
    states = np.array(row.states, dtype=object)
    is_open = (states == ANY) | np.isnan(row.numbers).any(axis=1)
    differs = [
        (states != np.array(one.states, dtype=object))
        | (np.abs(row.numbers - one.numbers) > VARIES).any(axis=1)
        for one in right
    ]
    return bool((np.all(differs, axis=0) & ~is_open).any())


def _agreed(runs: Sequence[_Row]) -> _Row:
    """Keep what several runs agree in; leave the rest open: any state, and NaN for values."""
    first = runs[0]
    numbers = np.array([row.numbers for row in runs])  # (runs, slots, projections)
    varies = (np.abs(numbers - numbers[0]) > VARIES * (1 + np.abs(numbers[0]))).any(axis=(0, 2))
    return first._replace(
        states=_agreed_states([row.states for row in runs]),
        dtype_states=_agreed_states([row.dtype_states for row in runs]),
        numbers=np.where(varies[:, None], np.nan, first.numbers),
    )


def _agreed_states(runs: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(slot[0] if len(set(slot)) == 1 else ANY for slot in zip(*runs, strict=True))


def _alike(one: _Row, other: _Row) -> bool:
    if one.states != other.states:
        return False
    apart = np.abs(one.numbers - other.numbers).max(initial=0.0)  # NaN if a value is open: not alike
    return bool(apart < 1e-6)  # float64 rounds far below it


def _independent(one: KnownAnswer, other: KnownAnswer, source: str) -> bool:
    if one.code or other.code or "mistake" not in (one.kind, other.kind):
        return False
    try:
        return apply([one, other], source, exactly=False) == apply([other, one], source, exactly=False)
    except UsageError:
        return False


def _opened(rows: Sequence[_Row], apart: Sequence[bool]) -> Sequence[_Row]:
    """Leave slots open that serve only to tell mistakes apart, except in rows of mistakes that need them.

    A mistake needs them if another one has the same results in all other slots. apart: one truth value per slot; true for
    the slots of `Case.see_none`, which only tell mistakes apart.
    """
    if not any(apart):
        return rows
    opened = [_without(row, np.array(apart[: len(row.states)])) for row in rows]
    singles = [pair for pair in zip(rows, opened, strict=True) if len(pair[0].explains) == 1]
    need_them = {
        id
        for (one, one_opened), (other, other_opened) in combinations(singles, 2)
        if _alike(one_opened, other_opened) and not _alike(one, other)
        for id in (*one.explains, *other.explains)
    }
    return [row if need_them & set(row.explains) else free for row, free in zip(rows, opened, strict=True)]


def _without(row: _Row, left_out: Array) -> _Row:
    states = tuple(ANY if out else state for state, out in zip(row.states, left_out, strict=True))
    # 0.0, not NaN: `_alike` compares these rows.
    return row._replace(states=states, numbers=np.where(left_out[:, None], 0.0, row.numbers))


def _forms(mistakes: Sequence[KnownAnswer], source: str, others: Sequence[KnownAnswer]) -> list[str]:
    """Return the sources of mistakes made in the reference, and in each `also` answer that has the code they edit."""
    forms = [apply(mistakes, source, exactly=len(mistakes) == 1)]
    if all(m.edits for m in mistakes):
        for other in others:
            with contextlib.suppress(UsageError):  # this answer lacks the code that the mistake edits
                forms.append(apply([other, *mistakes], source, exactly=False))
    return forms

"""Name known mistakes that occur together, though their pair was not recorded.

Every slot of the answer must be explained: by the expected result, by the one mistake that changes this slot, or,
where several change it, by one of these or by anything that is wrong. Each named mistake needs slots of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from grader.bundle.model import RecordedCase, Signatures
from grader.bundle.safetensors import Array
from grader.diagnosis.distance import NEAR, changed, distances, shown
from grader.judge.verdict import Budget

TOGETHER = 3  # rows of the table, each one mistake or a recorded pair
MIXED = 1  # cases in which two mistakes may give together what neither gives alone
CANDIDATES = 24  # rows that may take part; an answer that equals more of them here and there is like none
VAGUE = "values"  # a finding that many mistakes have


@dataclass(frozen=True)
class _Row:
    """One row of the table beside the answer. Slots are sets of their numbers.

    changes: where it differs from every right answer. fits: where the answer does not contradict it.
    shows: where it changes something and the answer has exactly that.
    """

    number: int
    ids: frozenset[str]
    changes: frozenset[int]
    fits: frozenset[int]
    shows: frozenset[int]


@dataclass(frozen=True)
class _Answer:
    """wrong: the slots that differ from every right answer. open: wrong slots that need no explanation."""

    table: Signatures
    sizes: Sequence[str]  # of the case of each slot
    wrong: frozenset[int]
    open: frozenset[int] = frozenset()


def together(
    table: Signatures,
    cases: Sequence[RecordedCase],
    states: Sequence[str],
    numbers: Array,
    budget: Budget | None = None,
) -> tuple[tuple[str, ...], ...]:
    """The fewest known mistakes that together explain an answer which no row of the table equals.

    If there are none, the checks that ended in an exception are left out. Raises JudgingTimeoutError if the budget
    is spent.
    """
    right = [row for row, ids in enumerate(table.explains) if not ids]
    apart = distances(table, states, numbers)
    wrong = _slots((apart[right] >= NEAR).all(axis=0))
    rows = list(_rows(table, apart, states, numbers))
    raised = frozenset(slot for slot in wrong if states[slot].startswith("!"))
    sizes = _sizes(table, cases)
    for left_out in (frozenset[int](), raised) if 2 * len(raised) < len(wrong) else (frozenset[int](),):
        if found := _explained(rows, _Answer(table, sizes, wrong, left_out), budget or Budget()):
            return found
    return ()


def _slots(where: Any) -> frozenset[int]:
    return frozenset(np.flatnonzero(where).tolist())


def _sizes(table: Signatures, cases: Sequence[RecordedCase]) -> list[str]:
    """For each slot a word for the sizes of its case."""
    of = {case.id: repr(sorted({tensor.shape for tensor in case.tensors.values()})) for case in cases}
    return [of[slot.split("|")[0]] for slot in table.slots]


def _rows(table: Signatures, apart: Array, states: Sequence[str], numbers: Array) -> Iterator[_Row]:
    """Yield the rows that the answer shows somewhere."""
    changes, near = changed(table), apart < NEAR
    shows = shown(table, states, numbers)
    for number, ids in enumerate(table.explains):
        if ids and shows[number].any():
            yield _Row(
                number, frozenset(ids), _slots(changes[number]), _slots(near[number]), _slots(shows[number])
            )


def _explained(rows: Iterable[_Row], answer: _Answer, budget: Budget) -> tuple[tuple[str, ...], ...]:
    """The sets of fewest mistakes that explain all slots but the open ones; of several, what is in all of them."""
    able = [
        row
        for row in rows
        if row.changes <= row.fits | answer.wrong | answer.open and _enough(row, row.shows, answer)
    ]
    if len(able) > CANDIDATES:
        return ()
    sets = [
        frozenset[str]().union(*(row.ids for row in chosen))
        for count in range(1, TOGETHER + 1)
        for chosen in budget.within(combinations(able, count))
        if _explain(chosen, answer)
    ]
    fewest = dict.fromkeys(ids for ids in sets if len(ids) == min(map(len, sets)))
    common = frozenset[str].intersection(*fewest) if fewest else frozenset[str]()
    return tuple(tuple(sorted(ids)) for ids in ([common] if common else fewest))


def _explain(chosen: Sequence[_Row], answer: _Answer) -> bool:
    if len(frozenset[str]().union(*(row.ids for row in chosen))) < sum(len(row.ids) for row in chosen):
        return False
    if any(_contradict(answer.table, *two) for two in combinations(chosen, 2)):
        return False
    touched = frozenset[int]().union(*(row.changes for row in chosen))
    untouched = answer.wrong - answer.open - touched
    if not all(any(slot in row.fits for row in chosen) for slot in untouched):  # left open by one of them
        return False
    mixed = answer.wrong & touched - answer.open - frozenset[int]().union(
        *(row.fits & row.changes for row in chosen)
    )
    if len({answer.table.slots[slot].split("|")[0] for slot in mixed}) > MIXED:
        return False
    return all(_is_seen(row, [other for other in chosen if other is not row], answer) for row in chosen)


def _contradict(table: Signatures, one: _Row, other: _Row) -> bool:
    """Whether a check finds different things in two mistakes: no answer shows both."""
    for slot in one.changes & other.changes:
        found = {table.states[row.number][slot] for row in (one, other)} - {VAGUE}
        if "|check:" in table.slots[slot] and len(found) == 2 and not any(s.startswith("!") for s in found):
            return True
    return False


def _is_seen(row: _Row, others: Sequence[_Row], answer: _Answer) -> bool:
    """Whether the answer has all that this row alone changes, and shows it in two cases of different sizes.

    A mistake that changes cases of one size alone must be seen in these.
    """
    elsewhere = frozenset[int]().union(*(other.changes for other in others))
    if not row.changes - elsewhere - answer.open <= row.fits:
        return False
    shown = row.shows
    for other in others:
        shown -= _alike(answer.table, row, other, shown & other.shows)
    return _enough(row, shown, answer)


def _enough(row: _Row, shown: frozenset[int], answer: _Answer) -> bool:
    """Whether these slots show a row in two cases of different sizes, or in all sizes if it changes only one.

    That a value is wrong shows no mistake; that something raised shows one only if it changes nothing else.
    """
    states = answer.table.states[row.number]
    raised = {slot for slot in row.changes if states[slot].startswith("!")}
    shown -= {slot for slot in row.changes if states[slot] == VAGUE}
    shown -= answer.open
    if raised < row.changes:
        shown -= raised
    needed = min(2, len({answer.sizes[slot] for slot in row.changes}))
    return len({answer.sizes[slot] for slot in shown}) >= needed


def _alike(table: Signatures, row: _Row, other: _Row, slots: frozenset[int]) -> frozenset[int]:
    """Those of the slots in which two rows have the same."""
    if not slots:
        return slots
    apart = distances(table, table.states[other.number], table.numbers[other.number], [row.number])[0]
    return slots & _slots(apart < NEAR)

"""Name several known mistakes that occur together, although their pair was not recorded.

A slot is one result of one case. The table (`Signatures`) has a row of slots per right answer, per known mistake and
per recorded pair. The answer must be explained in every slot: it has a right result, or the result of the one mistake
that changes this slot. If several mistakes change it, it has the result of one of them; in the slots of a single case
(MIXED) it may have another wrong result. Each named mistake must explain a slot that no other mistake explains.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from grader.bundle.model import RecordedCase, Signatures
from grader.diagnosis.distance import NEAR, Compared, distances
from grader.judge.verdict import Budget

TOGETHER = 3  # the most rows of the table that may explain an answer; each is a mistake or a recorded pair
MIXED = 1  # the most cases in which mistakes together may give a result that none gives alone
CANDIDATES = 24  # rows that may take part; if more of them match in parts, no mistake is named
VAGUE = "values"  # the state of a check that many mistakes share


@dataclass(frozen=True)
class _Row:
    """One row of the table compared with the answer, as sets of slot numbers.

    changes: slots in which the row differs from every right answer. fits: slots in which the answer has the row's
    result, or in which any result fits (ANY or NaN in one of the two). shows: changed slots in which the answer is
    wrong in the same way.
    """

    number: int
    ids: frozenset[str]
    changes: frozenset[int]
    fits: frozenset[int]
    shows: frozenset[int]


@dataclass(frozen=True)
class _Answer:
    """The slots of an answer. wrong: those that differ from every right answer. open: wrong slots that need no
    explanation. sizes: per slot, a word for the tensor sizes of its case.
    """

    table: Signatures
    sizes: Sequence[str]
    wrong: frozenset[int]
    open: frozenset[int] = frozenset()


def together(answer: Compared, cases: Sequence[RecordedCase], budget: Budget) -> tuple[tuple[str, ...], ...]:
    """Return the fewest known mistakes that together explain an answer which equals no row of the table.

    If none do, and fewer than half of the wrong slots are exceptions, search again without these slots. Raises
    JudgingTimeoutError if the budget is spent.
    """
    wrong, rows = _slots(answer.wrong), _rows(answer)
    raised = frozenset(slot for slot in wrong if answer.states[slot].startswith("!"))
    of = {case.id: repr(sorted({tensor.shape for tensor in case.tensors.values()})) for case in cases}
    sizes = [of[slot.split("|")[0]] for slot in answer.table.slots]
    found = _explained(rows, _Answer(answer.table, sizes, wrong), budget)
    if not found and raised and 2 * len(raised) < len(wrong):
        found = _explained(rows, _Answer(answer.table, sizes, wrong, open=raised), budget)
    return found


def _slots(where: Any) -> frozenset[int]:
    return frozenset(np.flatnonzero(where).tolist())


def _rows(answer: Compared) -> list[_Row]:
    found = []
    for number, ids in enumerate(answer.table.explains):
        if ids and answer.shown[number].any():
            slots = (answer.changed[number], answer.apart[number] < NEAR, answer.shown[number])
            found.append(_Row(number, frozenset(ids), *map(_slots, slots)))
    return found


def _explained(rows: Iterable[_Row], answer: _Answer, budget: Budget) -> tuple[tuple[str, ...], ...]:
    """Return the smallest sets of mistakes that explain all slots but the open ones.

    If several sets fit, return the mistakes that are in all of them; if no mistake is, return all sets. Return () if no
    set fits, or if there are more than CANDIDATES rows.
    """
    # If the answer is right in a slot that a mistake changes, it does not have this mistake.
    possible = [row for row in rows if row.changes <= (row.fits | answer.wrong | answer.open)]
    able = [row for row in possible if _enough(row, row.shows, answer)]
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
    """Return whether these rows together explain the answer, and each of them is needed."""
    names = frozenset[str]().union(*(row.ids for row in chosen))
    if len(names) < sum(len(row.ids) for row in chosen):  # two rows have the same mistake
        return False
    if any(_contradict(answer.table, *two) for two in combinations(chosen, 2)):
        return False
    touched = frozenset[int]().union(*(row.changes for row in chosen))
    untouched = answer.wrong - answer.open - touched
    # A wrong slot that no row changes must be one in which any result fits one of the rows.
    if not all(any(slot in row.fits for row in chosen) for slot in untouched):
        return False
    given_by_one = frozenset[int]().union(*(row.fits & row.changes for row in chosen))
    mixed = answer.wrong & (touched - answer.open - given_by_one)
    if len({answer.table.slots[slot].split("|")[0] for slot in mixed}) > MIXED:
        return False
    return all(_is_seen(row, [other for other in chosen if other is not row], answer) for row in chosen)


def _contradict(table: Signatures, one: _Row, other: _Row) -> bool:
    """Return whether a check has different findings for two mistakes. Then no answer can show both.

    The state VAGUE and exceptions do not count.
    """
    for slot in one.changes & other.changes:
        found = {table.states[row.number][slot] for row in (one, other)} - {VAGUE}
        if "|check:" in table.slots[slot] and len(found) == 2 and not any(s.startswith("!") for s in found):
            return True
    return False


def _is_seen(row: _Row, others: Sequence[_Row], answer: _Answer) -> bool:
    """Return whether the answer has the result of this row in every slot that no other row changes.

    Enough slots must show this row alone, see `_enough`.
    """
    elsewhere = frozenset[int]().union(*(other.changes for other in others))
    if not row.changes - elsewhere - answer.open <= row.fits:
        return False
    shown = row.shows
    table = answer.table
    for other in others:
        if both := shown & other.shows:  # without the slots in which both rows have the same result
            apart = distances(table, table.states[other.number], table.numbers[other.number], [row.number])[0]
            shown -= both & _slots(apart < NEAR)
    return _enough(row, shown, answer)


def _enough(row: _Row, shown: frozenset[int], answer: _Answer) -> bool:
    """Return whether these slots show a row in two cases of different sizes.

    One case is enough if the row changes cases of one size only. A slot in which the row only has a wrong value (VAGUE)
    shows nothing. A slot in which it raises counts only if the row raises in every slot that it changes.
    """
    states = answer.table.states[row.number]
    raised = {slot for slot in row.changes if states[slot].startswith("!")}
    shown -= {slot for slot in row.changes if states[slot] == VAGUE}
    shown -= answer.open
    if raised < row.changes:
        shown -= raised
    needed = min(2, len({answer.sizes[slot] for slot in row.changes}))
    return len({answer.sizes[slot] for slot in shown}) >= needed

"""Name several known mistakes that occur together, although their pair was not recorded.

A row r of the table (`Signatures`) is a known mistake or a recorded pair. In slot s, one result of one case:

    wrong[s]        the answer has another result than every right answer
    changes[r, s]   the row has another result than every right answer
    fits[r, s]      the answer has the result of the row, or any result fits one of the two
    shows[r, s]     the row changes the slot, and the answer is wrong in the same way

A set X of rows explains the answer if no mistake is in two of its rows, no two rows contradict each other, and

    wrong[s], no row changes s      → some row fits s
    wrong[s], rows change s         → a row that changes s fits; in the slots of one case (MIXED) it need not
    changes[r, s], no other row     → r fits s
    for each row r of X             → the slots that r shows, without those in which another row of X shows
                                      the same, are enough (`_Search.enough`)

The smallest sets count. The mistakes that are in all of them are named; if there is none, each set.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from grader.bundle.model import RecordedCase
from grader.bundle.safetensors import Array
from grader.diagnosis.signature import NEAR, Compared, distances
from grader.judge.verdict import Budget

TOGETHER = 3  # the most rows of a set
MIXED = 1  # the most cases in which mistakes together may give a result that none gives alone
CANDIDATES = 24  # rows that may take part; if more of them match in parts, no mistake is named
VAGUE = "values"  # the state of a check that many mistakes share


def together(answer: Compared, cases: Sequence[RecordedCase], budget: Budget) -> tuple[tuple[str, ...], ...]:
    """Return the fewest known mistakes that together explain an answer which equals no row of the table.

    If none do, and fewer than half of the wrong slots are exceptions, search again without these slots. Raises
    JudgingTimeoutError if the budget is spent.
    """
    raised = answer.wrong & np.array([state.startswith("!") for state in answer.states], dtype=bool)
    found = _Search(answer, cases, np.ones_like(raised)).explanations(budget)
    if not found and raised.any() and 2 * raised.sum() < answer.wrong.sum():
        found = _Search(answer, cases, ~raised).explanations(budget)
    return found


class _Search:
    """The rows of the table that the answer shows somewhere, as arrays (rows, slots).

    kept: the slots that must be explained. sizes: per slot, a word for the tensor sizes of its case.
    """

    def __init__(self, answer: Compared, cases: Sequence[RecordedCase], kept: Array) -> None:
        self.table, self.kept = answer.table, kept
        self.wrong = answer.wrong & kept
        self.rows = [r for r, ids in enumerate(self.table.explains) if ids and answer.shown[r].any()]
        self.ids = [frozenset(self.table.explains[row]) for row in self.rows]
        self.states = self.table.states[self.rows]
        self.changes, self.shows = answer.changed[self.rows], answer.shown[self.rows]
        self.fits = answer.apart[self.rows] < NEAR
        self.case = np.array([slot.split("|")[0] for slot in self.table.slots])
        of = {case.id: repr(sorted({tensor.shape for tensor in case.tensors.values()})) for case in cases}
        self.sizes = np.array([of[id] for id in self.case])

    def explanations(self, budget: Budget) -> tuple[tuple[str, ...], ...]:
        """Return the smallest sets of mistakes that explain all kept slots, or the mistakes that are in all of them.

        Return () if no set fits, or if there are more than CANDIDATES rows.
        """
        # If the answer is right in a slot that a mistake changes, it does not have this mistake.
        impossible = np.asarray((self.changes & self.kept & ~self.fits & ~self.wrong).any(axis=1))
        able = [r for r in range(len(self.rows)) if not impossible[r] and self.enough(r, self.shows[r])]
        if len(able) > CANDIDATES:
            return ()
        sets = [
            frozenset[str]().union(*(self.ids[r] for r in chosen))
            for count in range(1, TOGETHER + 1)
            for chosen in budget.within(combinations(able, count))
            if self.explain(list(chosen))
        ]
        fewest = dict.fromkeys(ids for ids in sets if len(ids) == min(map(len, sets)))
        common = frozenset[str].intersection(*fewest) if fewest else frozenset[str]()
        return tuple(tuple(sorted(ids)) for ids in ([common] if common else fewest))

    def explain(self, chosen: list[int]) -> bool:
        """Return whether these rows together explain the answer, and each of them is needed."""
        names = frozenset[str]().union(*(self.ids[r] for r in chosen))
        if len(names) < sum(len(self.ids[r]) for r in chosen):  # two rows have the same mistake
            return False
        if any(self.contradict(*two) for two in combinations(chosen, 2)):
            return False
        changes, fits = self.changes[chosen], self.fits[chosen]
        changed = changes.any(axis=0)
        if (self.wrong & ~changed & ~fits.any(axis=0)).any():
            return False
        mixed = self.wrong & changed & ~(changes & fits).any(axis=0)
        if len(set(self.case[mixed])) > MIXED:
            return False
        return all(self.is_seen(r, [other for other in chosen if other != r]) for r in chosen)

    def contradict(self, one: int, other: int) -> bool:
        """Return whether a check has different findings for two rows. Then no answer can show both.

        The state VAGUE and exceptions do not count.
        """
        for slot in np.flatnonzero(self.changes[one] & self.changes[other]):
            found = {self.states[one, slot], self.states[other, slot]} - {VAGUE}
            if (
                "|check:" in self.table.slots[slot]
                and len(found) == 2
                and not any(s.startswith("!") for s in found)
            ):
                return True
        return False

    def is_seen(self, row: int, others: list[int]) -> bool:
        elsewhere = self.changes[others].any(axis=0)
        if (self.changes[row] & self.kept & ~elsewhere & ~self.fits[row]).any():
            return False
        alone = self.shows[row]
        for other in others:
            if (alone & self.shows[other]).any():
                number, table = self.rows[other], self.table
                apart = distances(table, table.states[number], table.numbers[number], [self.rows[row]])[0]
                alone = alone & ~(self.shows[other] & (apart < NEAR))
        return self.enough(row, alone)

    def enough(self, row: int, slots: Array) -> bool:
        """Return whether these slots show a row in two cases of different sizes.

        One case is enough if the row changes cases of one size only. A slot in which the row only has a wrong value
        (VAGUE) shows nothing. A slot in which it raises counts only if the row raises in every slot that it changes.
        """
        changes, states = self.changes[row], self.states[row]
        raises = np.array([state.startswith("!") for state in states], dtype=bool)
        slots = slots & self.kept & (states != VAGUE)
        if not raises[changes].all():
            slots = slots & ~raises
        return len(set(self.sizes[slots])) >= min(2, len(set(self.sizes[changes])))

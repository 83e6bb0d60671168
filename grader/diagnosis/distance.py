"""Measure how far an answer is from the results of known mistakes, slot by slot."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grader.bundle.model import Signatures
from grader.bundle.safetensors import Array
from grader.diagnosis.signature import ANY

# One's own mistake is found again within about 1e-6 in float32; the nearest other one is about 1e-2 away.
NEAR, FAR = 1e-4, 1e-2


def distances(
    table: Signatures, states: Sequence[str], numbers: Array, rows: Sequence[int] | None = None
) -> Array:
    """Per row (all of the table, or those given) and slot the departure, relative to the size of what is there;
    infinite where a state differs."""
    mine = np.array(states, dtype=object)
    row_states = table.states if rows is None else table.states[list(rows)]
    row_numbers = table.numbers if rows is None else table.numbers[list(rows)]
    anything = (row_states == ANY) | (mine == ANY)
    free = anything | np.isnan(row_numbers).any(axis=2)
    departs = np.abs(row_numbers - numbers).max(axis=2, initial=0.0)
    departs = departs / (1 + np.abs(row_numbers).max(axis=2, initial=0.0))
    departs = np.where(free, 0.0, np.nan_to_num(departs, nan=np.inf))
    return np.where((row_states == mine) | anything, departs, np.inf)


def changed(table: Signatures) -> Array:
    """Per row and slot, whether a mistake gives there what no right answer gives."""
    right = [row for row, ids in enumerate(table.explains) if not ids]
    apart = [distances(table, table.states[row], table.numbers[row]) for row in right]
    return np.asarray((np.array(apart) >= NEAR).all(axis=0))


def shown(table: Signatures, states: Sequence[str], numbers: Array) -> Array:
    """Per row and slot, whether an answer has there what the mistake gives and no right answer does."""
    apart = distances(table, states, numbers)
    right = [row for row, ids in enumerate(table.explains) if not ids]
    wrong = (apart[right] >= NEAR).all(axis=0)
    is_open = (table.states == ANY) | np.isnan(table.numbers).any(axis=2)
    return np.asarray(changed(table) & (apart < NEAR) & ~is_open & wrong)

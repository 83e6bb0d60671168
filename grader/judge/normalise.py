"""Bring accepted layouts into one. Stored attention weights become (B, H, T, S); sentences become padded rows.

The attention weights of a decoder with one query per step become (steps, B, 1, S), those of a stack of layers
(L, B, H, T, S).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from grader.judge.observation import Observation, Seen
from grader.worker.steps import Sentences, Step, Weights

MAX_ROWS = 1 << 16  # of sentences; a result with more is left as it is
EMPTY, PAD = -1, 0  # EMPTY fills up shorter rows here; PAD does so in a student's tensor of tokens


def normalise_layouts(observation: Observation, steps: Sequence[Step]) -> Observation:
    """Return the observation with each result in one layout, if it has an accepted one; others stay as they are.

    Attention weights of several heads: (B, H, T, S), (B·H, T, S) with row b·H + h, or a list with one (B, T, S) per
    head. Of a decoder with one query per step: a list with one (B, 1, S) or (B, S) per step, or one tensor with the
    steps as its first or second axis. Of a stack of layers: a list or a tensor with one of these per layer.
    """
    seen = dict(observation.seen)
    for step in steps:
        if not isinstance(step, (Sentences, Weights)) or step.name not in seen:
            continue
        name, one, stacked = step.name, seen[step.name], step.name in observation.stacked
        if isinstance(step, Sentences):
            # Rows of several lengths hold nothing after the sentence, so an end token there was written.
            seen[name] = _written(one, step.steps, EMPTY if stacked else step.eos)
        elif step.layers and step.heads:
            seen[name] = _by_layer(one, step.heads, stacked)
        elif step.heads:
            seen[name] = _by_head(one, step.heads, stacked)
        elif step.steps:
            seen[name] = _by_step(one, step.steps)
    return replace(observation, seen=seen)


def _written(seen: Seen, steps: int, eos: int) -> Seen:
    """Return the tokens before `eos`, one row per sentence, padded with -1: (B, steps), or longer if a row is longer.

    After `eos`, a row may repeat one token of any kind as padding; otherwise the row stays as it is. A row without
    `eos` may end with PAD.
    """
    if seen.array is None or seen.array.ndim != 2 or seen.array.dtype.kind != "i":
        return seen
    if len(seen.array) > MAX_ROWS:
        return seen
    rows = [_before(row[row != EMPTY].tolist(), eos) for row in seen.array]
    width = max([steps, *map(len, rows)])
    array = np.full((len(rows), width), EMPTY, dtype=np.int64)
    for place, row in enumerate(rows):
        array[place, : len(row)] = row
    return replace(seen, shape=array.shape, array=array)


def _before(row: list[int], eos: int) -> list[int]:
    if eos in row:
        end = row.index(eos)
        return row[:end] if len(set(row[end + 1 :])) < 2 else row
    while row and row[-1] == PAD:
        row = row[:-1]
    return row


def _by_step(seen: Seen, steps: int) -> Seen:
    array = seen.array
    if array is None or array.ndim not in (3, 4):
        return seen
    if array.ndim == 3:
        array = array[:, :, None]
    if array.shape[0] != steps and array.shape[1] == steps:
        array = np.swapaxes(array, 0, 1)
    return replace(seen, shape=array.shape, array=array)


def _by_head(seen: Seen, heads: int, stacked: bool) -> Seen:
    array = seen.array
    if array is None:
        return seen
    if array.ndim == 4 and stacked and array.shape[0] == heads:
        array = np.swapaxes(array, 0, 1)
    elif array.ndim == 3 and array.shape[0] % heads == 0:
        array = array.reshape(array.shape[0] // heads, heads, *array.shape[1:])
    return replace(seen, shape=array.shape, array=array)


def _by_layer(seen: Seen, heads: int, stacked: bool) -> Seen:
    array = seen.array
    if array is None or array.ndim not in (4, 5):
        return seen
    if array.ndim == 5 and stacked:
        array = np.swapaxes(array, 1, 2)
    elif array.ndim == 4 and array.shape[1] % heads == 0:
        array = array.reshape(array.shape[0], array.shape[1] // heads, heads, *array.shape[2:])
    return replace(seen, shape=array.shape, array=array)

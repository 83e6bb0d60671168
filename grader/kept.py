"""Attention weights are kept in more than one right layout; here they become (B, H, T, S)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from grader.observation import Observation, Seen


def arranged(observation: Observation, steps: Iterable[Mapping[str, Any]]) -> Observation:
    """The same observation with every kept weight in one layout, as far as it is an accepted one.

    With heads: (B, H, T, S), (B·H, T, S) with row b·H + h, or a list of one (B, T, S) a head. With one query
    a step: a list of one (B, 1, S) or (B, S) a step, or the same in one tensor, steps first or second.
    """
    seen = dict(observation.seen)
    for step in steps:
        if step["do"] == "weights" and step["heads"] and step["name"] in seen:
            seen[step["name"]] = _by_head(
                seen[step["name"]], step["heads"], step["name"] in observation.stacked
            )
        elif step["do"] == "weights" and step.get("steps") and step["name"] in seen:
            seen[step["name"]] = _by_step(seen[step["name"]], step["steps"])
    return replace(observation, seen=seen)


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

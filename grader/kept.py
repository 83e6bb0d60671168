"""Attention weights are kept in more than one right layout; here they become (B, H, T, S)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from grader.observation import Observation, Seen


def arranged(observation: Observation, steps: Iterable[Mapping[str, Any]]) -> Observation:
    """The same observation with every kept weight in one layout, as far as it is an accepted one:
    (B, H, T, S), (B·H, T, S) with row b·H + h, or a list of one (B, T, S) a head."""
    seen = dict(observation.seen)
    for step in steps:
        if step["do"] == "weights" and step["heads"] and step["name"] in seen:
            seen[step["name"]] = _by_head(seen[step["name"]], step["heads"], step["name"] in observation.stacked)
    return replace(observation, seen=seen)


def _by_head(seen: Seen, heads: int, stacked: bool) -> Seen:
    array = seen.array
    if array is None:
        return seen
    if array.ndim == 4 and stacked and array.shape[0] == heads:
        array = np.swapaxes(array, 0, 1)
    elif array.ndim == 3 and array.shape[0] % heads == 0:
        array = array.reshape(-1, heads, *array.shape[1:])
    return replace(seen, shape=array.shape, array=array)

"""Make the observation that a right answer would give, to find out whether a judge raises for it, too."""

from __future__ import annotations

import numpy as np

from grader.bundle.model import Header, RecordedCase
from grader.bundle.safetensors import Array
from grader.judge.observation import Observation, Seen


def right_answer(case: RecordedCase) -> Observation:
    """Return the expected tensors (zeros of the right shape where there are none), and 1 for every other result.

    The results of the case's exam, which a worker without student code measures, are missing.
    """
    values = {name: 1 for name, header in case.headers.items() if header.dtype == "value"}
    seen = {name: _seen(case, name, header) for name, header in case.headers.items() if name not in values}
    lists: dict[str, object] = {key: [] for key in ("missing", "unexpected", "misshapen", "shared")}
    return Observation(seen, parameters={**lists, "layout": "", "shapes": {}}, values=values)


def _seen(case: RecordedCase, name: str, header: Header) -> Seen:
    array: Array | None = case.expected.get(name)
    return Seen(header.shape, header.dtype, np.zeros(header.shape) if array is None else array)

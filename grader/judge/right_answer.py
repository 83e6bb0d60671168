"""What a right answer would show in a case: the observation by which the grader tests its own judges."""

from __future__ import annotations

import numpy as np

from grader.bundle.model import Header, RecordedCase
from grader.bundle.safetensors import Array
from grader.judge.observation import Observation, Seen


def right_answer(case: RecordedCase) -> Observation:
    """The expected values where the case has them, zeros of the expected shape elsewhere."""
    values = {name: 0 for name, header in case.headers.items() if header.dtype == "value"}
    seen = {name: _seen(case, name, header) for name, header in case.headers.items() if name not in values}
    lists: dict[str, object] = {key: [] for key in ("missing", "unexpected", "misshapen", "shared")}
    return Observation(seen, parameters={**lists, "layout": "", "shapes": {}}, values=values)


def _seen(case: RecordedCase, name: str, header: Header) -> Seen:
    array: Array | None = case.expected.get(name)
    return Seen(header.shape, header.dtype, np.zeros(header.shape) if array is None else array)

"""The fixture `decide`: build a check, its case and an observation, and return the finding of a judge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from grader import judge as judges
from grader.bundle.model import Check, Header, RecordedCase
from grader.judge.finding import Finding
from grader.judge.observation import Observation, Seen, StudentError


def seen(value: Any) -> Seen:
    if isinstance(value, Seen):
        return value
    array = np.asarray(value)
    return Seen(array.shape, str(array.dtype), array)


@pytest.fixture
def decide() -> Callable[..., Finding]:
    """Return a function that judges a check: `decide(judge, {name: expected}, {name: result}, **params)`.

    params: the parameters of the check. The other keywords are fields of the check, the case, its headers or the
    observation.
    """

    def decided(
        judge: str,
        want: dict[str, Any],
        got: dict[str, Any],
        /,
        *,
        dtype: str = "float32",
        of: tuple[str, ...] = (),
        axes: tuple[str, ...] = (),
        tensors: dict[str, Any] | None = None,
        for_judge: dict[str, Any] | None = None,
        steps: tuple[Any, ...] = (),
        error: StudentError | None = None,
        parameters: Any = None,
        values: dict[str, Any] | None = None,
        **params: Any,
    ) -> Finding:
        arrays = {name: np.asarray(array) for name, array in want.items()}
        headers = {
            n: Header(a.shape, dtype if a.dtype.kind == "f" else str(a.dtype), axes)
            for n, a in arrays.items()
        }
        check = Check("c/x", "values", "title", judge, of or tuple(want), params)
        case = RecordedCase("c", "f", dtype, steps, (check,), tensors or {}, headers, arrays, for_judge or {})
        observation = Observation({n: seen(v) for n, v in got.items()}, error, parameters, values or {})
        return judges.decide(check, case, observation)

    return decided

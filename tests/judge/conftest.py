"""Build a check, its case and an observation; the fixture `decide` returns what its judge found."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from grader.bundle.model import Check, Header, RecordedCase
from grader.diagnosis.signature import state
from grader.judge import verdict
from grader.judge.observation import Observation, Seen, StudentError
from grader.report.finding import PUBLIC


def seen(value: Any) -> Seen:
    if isinstance(value, Seen):
        return value
    array = np.asarray(value)
    return Seen(array.shape, str(array.dtype), array)


def parts(
    judge: str,
    want: dict[str, Any],
    got: dict[str, Any],
    /,
    *,
    facet: str = "values",
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
) -> tuple[Check, RecordedCase, Observation]:
    """Return a check of one case, the case, and an observation: {name: expected}, {name: result}.

    params: the parameters of the check. The other keywords are fields of the check, the case, its headers or the
    observation.
    """
    arrays = {name: np.asarray(array) for name, array in want.items()}
    headers = {
        n: Header(
            a.shape,
            dtype if a.dtype.kind == "f" else str(a.dtype),
            axes if len(axes) == a.ndim else (),
        )
        for n, a in arrays.items()
    }
    check = Check("c/x", facet, "title", judge, of or tuple(want), params)
    stored = {"tensors": tensors or {}, "expected": arrays, "for_judge": for_judge or {}}
    case = RecordedCase("c", dtype, (check,), headers, steps, **stored)
    return check, case, Observation({n: seen(v) for n, v in got.items()}, error, parameters, values or {})


@dataclass(frozen=True)
class Shown:
    """A finding as a public report shows it. code: its state in a signature; "" if the check passed."""

    passed: bool
    code: str
    message: str
    where: str
    expected: str
    got: str


@pytest.fixture
def decide() -> Callable[..., Shown]:
    """Return a function that judges a check; its arguments are those of `parts`."""

    def decided(*args: Any, **more: Any) -> Shown:
        found = verdict.decide(*parts(*args, **more))
        code = "" if found.passed else state(found)
        return Shown(
            found.passed, code, PUBLIC.sentence(found), PUBLIC.where(found), found.expected, found.got
        )

    return decided

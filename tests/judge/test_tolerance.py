"""Which values differ: finite values, infinities and NaN."""

from __future__ import annotations

import numpy as np
import pytest

from grader.judge.finding import differs

INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    ("got", "want", "is_different"),
    [
        (1.0, 1.0 + 1e-5, False),
        (1.0, 1.0 + 3e-5, True),
        (INF, INF, False),
        (-INF, INF, True),
        (3.0, INF, True),
        (3.0, -INF, True),
        (INF, 3.0, True),
        (NAN, NAN, False),
        (3.0, NAN, True),
        (NAN, 3.0, True),
        (NAN, INF, True),
    ],
)
def test_finite_values_differ_beyond_the_tolerance_others_if_unequal(got, want, is_different):
    assert differs(np.array([got]), np.array([want]), 1e-5).tolist() == [is_different]

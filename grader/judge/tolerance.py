"""The tolerance per dtype: how far a value may be from the expected one."""

from __future__ import annotations

import numpy as np

from grader.bundle.safetensors import Array

# Relative to 1 + |expected|. At least four times the largest difference of right answers written in many ways
# (docs/precision.md), which leaves room for another order of summation. float64 has the tolerance of float32, because
# an answer may compute in float32 inside.
TOLERANCE = {"float64": 1e-5, "float32": 1e-5, "float16": 0.05, "bfloat16": 0.25}
FLOATS = frozenset(TOLERANCE)


def differs(got: Array, want: Array, tolerance: float) -> Array:
    """Return True where `got` differs from `want` by more than `tolerance` · (1 + |`want`|). Two NaN do not differ."""
    got, want = got.astype(np.float64), want.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.abs(got - want) <= tolerance * (1 + np.abs(want))
    near &= np.isfinite(want)  # otherwise any value would be near infinity
    if not near.all():
        near |= (got == want) | (np.isnan(got) & np.isnan(want))
    return ~near

"""A check: one line of the report, decided by one function of grader/judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Json = Any

FACETS = (
    "shapes",
    "values",
    "masking",
    "gradients",
    "modes",
    "purity",
    "weights",
    "device",
    "precision",
    "pruning",
    "defaults",
)

# The dtypes in which a result is checked besides float32; docs/precision.md has the tolerances.
OTHER_DTYPES = ("float16", "bfloat16", "float64")
PRECISION = "precision"  # the policy of all checks in these dtypes
# Failures of these kinds cost no points unless a course lets them count; see docs/decisions/22.
POLICIES = (PRECISION, "odd-width", "grad-mode")


@dataclass(frozen=True)
class Check:
    """One line of the report: a facet, a title, and how the judge decides it.

    `judge` names a function of grader/judge; `of` names the observations that the judge looks at; `params` are its
    settings. `policy`: one of POLICIES if a failure costs no points; "" for a check that counts.
    """

    id: str
    facet: str
    title: str
    judge: str
    of: tuple[str, ...]
    params: Mapping[str, Json] = field(default_factory=dict)
    policy: str = ""

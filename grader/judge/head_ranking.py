"""Judge the ranking of heads: the order counts, not the size of the values."""

from __future__ import annotations

import numpy as np

from grader.bundle.check import Check
from grader.bundle.model import RecordedCase
from grader.bundle.safetensors import Array
from grader.judge.finding import PASSED, Finding, failed, values_of
from grader.judge.observation import Observation
from grader.support.i18n import _


def spearman(one: Array, other: Array) -> float:
    """Return the rank correlation of two rows of values, from -1 to 1 (Spearman 1904); 0 if one is constant."""
    ranks = [_ranks(np.asarray(row, dtype=np.float64)) for row in (one, other)]
    a, b = (rank - rank.mean() for rank in ranks)
    size = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return float((a * b).sum()) / size if size else 0.0


def _ranks(row: Array) -> Array:
    """Return ranks in ascending order; equal values share their mean rank."""
    smaller = (row[:, None] > row[None, :]).sum(axis=1)
    equal = (row[:, None] == row[None, :]).sum(axis=1)
    return smaller + (equal - 1) / 2


def ranks(check: Check, case: RecordedCase, observation: Observation) -> Finding:
    """The rank correlation with `planted`, the strength of every head, is at least `least`."""
    (name,) = check.of
    got, planted = values_of(name, case, observation), np.array(check.params["planted"])
    found = spearman(got, planted) if np.isfinite(got).all() else 0.0
    if found >= check.params["least"]:
        return PASSED
    return failed(
        "ranks",
        _("wrong ranking of heads (rank correlation with the expected ranking: {found:.2f})").format(
            found=found
        ),
        _listed(planted),
        _listed(got),
    )


def _listed(row: Array) -> str:
    """List the heads, the largest value first."""
    return _("heads from high to low: {heads}").format(
        heads=", ".join(str(h) for h in np.argsort(-row, kind="stable"))
    )

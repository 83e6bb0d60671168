"""Plain facts about a wrong result, for when no known mistake fits: where it departs, and in which pattern.

No guesses: every sentence is true of the numbers that were seen, and none says what to do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from grader.bundle.safetensors import Array
from grader.judge.finding import departures
from grader.support.i18n import _


def of_numbers(got: Array, want: Array, axes: Sequence[str], tolerance: float) -> list[str]:
    """What can be said of two arrays of one shape that are not equal."""
    wrong = departures(got, want, tolerance)
    if not wrong.any() or got.shape != want.shape:
        return []
    facts = [*_arrangement(got, want, tolerance), *_ratio(got, want, tolerance)]
    return facts or _where(wrong, axes)


def _ratio(got: Array, want: Array, tolerance: float) -> list[str]:
    """Every number is the same multiple of what it should be."""
    big = np.abs(want) > 1e-2
    if big.sum() < 3 or not np.isfinite(got).all():
        return []
    with np.errstate(over="ignore", invalid="ignore"):  # of numbers near the end of the range
        ratio = float(np.median(got[big].astype(np.float64) / want[big]))
        if not 1e-6 <= abs(ratio) < np.inf or departures(got, ratio * want, 10 * tolerance).any():
            return []
    return [_("every number is {ratio:.4g} times what it should be").format(ratio=ratio)]


def _arrangement(got: Array, want: Array, tolerance: float) -> list[str]:
    """The right numbers, in other places."""
    if got.size < 4 or not np.isfinite(got).all():
        return []
    if departures(np.sort(got.ravel()), np.sort(want.ravel()), 10 * tolerance).any():
        return []
    return [_("the numbers are the right ones, and stand in the wrong places")]


def _where(wrong: Array, axes: Sequence[str]) -> list[str]:
    """Along which axes only a part is wrong."""
    names = axes if len(axes) == wrong.ndim else [_("axis {n}").format(n=n) for n in range(wrong.ndim)]
    facts = []
    for axis, name in enumerate(names):
        others = tuple(a for a in range(wrong.ndim) if a != axis)
        hit = wrong.any(axis=others)
        if hit.all() or hit.size < 2:
            continue
        facts.append(_pattern(name, np.flatnonzero(hit).tolist(), hit.size))
    return facts


def _pattern(name: str, hit: Sequence[int], size: int) -> str:
    """Which places along one axis are wrong, as a sentence; `hit` is neither empty nor everything."""
    first, last = hit[0], hit[-1]
    if len(hit) == 1:
        return _("only {axis} {first} is wrong").format(axis=name, first=first)
    if len(hit) != last - first + 1:
        return _("wrong at {axis} {places}, right elsewhere").format(
            axis=name, places=", ".join(map(str, hit))
        )
    if last == size - 1:
        return _("right up to {axis} {before}, wrong from {axis} {first} on").format(
            axis=name, before=first - 1, first=first
        )
    return _("wrong from {axis} {first} to {last}, right elsewhere").format(axis=name, first=first, last=last)


def of_facets(failed: Mapping[str, bool]) -> str:
    """What the facets say together. `failed`: facet → whether any of its checks failed; absent: not checked."""

    def right(facet: str) -> bool:
        return failed.get(facet) is False

    def wrong(facet: str) -> bool:
        return failed.get(facet) is True

    if right("values") and wrong("masking"):
        return _("without a mask it is right, with one it is wrong")
    if right("values") and not wrong("masking") and wrong("gradients"):
        return _("the results are right, the gradients are not")
    if right("values") and not wrong("masking") and wrong("modes"):
        return _(
            "it is right in one mode and wrong in another: compare training, evaluation, and one step a call"
        )
    if right("values") and not wrong("masking") and wrong("weights"):
        return _("the results are right, the weights that were kept are not")
    return ""

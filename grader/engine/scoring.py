"""Compute points from checks: the share of the weights that belongs to facets whose checks all passed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.report.model import CheckResult

FORM = frozenset(("shapes", "purity"))  # facets that pass even if all values are arbitrary
WRONG_VALUES = 0.25  # the largest share of the points if the facet *values* fails
FORM_ALONE = 0.5  # the factor for FORM facets if the exercise has other facets and none of these passes


def score(points: float, weights: Mapping[str, float], checks: Sequence[CheckResult], trivial: bool) -> float:
    """Return the points of an exercise.

    points: the maximum. weights: facet → weight; the default is 1. trivial: whether the
    answer is trivial, see `judge/trivial.py`.

    A trivial answer gets no points, an answer with wrong values at most the share WRONG_VALUES. If only facets in
    FORM pass, and the exercise has others, they count half. Checks of a policy do not count, nor does a facet with a
    check that could not be graded.
    """
    checks = [check for check in checks if check.counts]
    if trivial or not checks:
        return 0.0
    unknown = {c.facet for c in checks if c.outcome == "could_not_grade"}
    facets = {c.facet for c in checks} - unknown
    passed = {f for f in facets if all(c.outcome == "passed" for c in checks if c.facet == f)}
    total = sum(weights.get(f, 1.0) for f in facets)
    if not total:
        return 0.0
    share = sum(weights.get(f, 1.0) for f in passed) / total
    if passed <= FORM and not facets <= FORM:
        share *= FORM_ALONE
    if "values" in facets and "values" not in passed:
        share = min(share, WRONG_VALUES)
    return round(points * share, 6)

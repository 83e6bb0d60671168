"""From checks to points: the share of facet weights whose checks all passed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.report.model import CheckResult

FORM = frozenset(("shapes", "purity"))  # facets that a result passes whose values are arbitrary
WRONG_VALUES = 0.25  # the most that is left of the points where the facet *values* fails
FORM_ALONE = 0.5  # of their weight, where no other facet passes


def score(points: float, weights: Mapping[str, float], checks: Sequence[CheckResult], trivial: bool) -> float:
    """Return the points of an exercise. `weights`: facet → weight, 1 where none is given.

    An answer whose values are wrong gets at most a quarter, a trivial one nothing. Facets of form alone count
    half. Checks of a policy do not count. Facets with a check that could not be graded leave the sum.
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

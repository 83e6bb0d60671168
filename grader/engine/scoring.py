"""Compute points from checks: the share of the weights that belongs to facets whose checks all passed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from grader.report.model import Decided

FORM = frozenset(("shapes", "purity"))  # facets that pass even if all values are arbitrary
# The factor for FORM facets if the exercise has other facets and none of these passes.
FORM_ALONE = Fraction(1, 2)
# The largest share of the points if this facet fails.
CAPS = {"values": Fraction(1, 4), "masking": Fraction(1, 2), "modes": Fraction(1, 2)}


def share(weights: Mapping[str, float], checks: Sequence[Decided]) -> Fraction:
    """Return the share of the points that these checks give. weights: facet → weight; the default is 1.

    A failed facet in CAPS limits the share. If only facets in FORM pass, and the exercise has others, they count half.
    Checks of a policy do not count, nor does a facet with a check that could not be graded.
    """
    checks = [check for check in checks if check.counts]
    unknown = {c.facet for c in checks if c.outcome == "could_not_grade"}
    facets = {c.facet for c in checks} - unknown
    passed = {f for f in facets if all(c.outcome == "passed" for c in checks if c.facet == f)}
    weight = {f: exact(weights.get(f, 1.0)) for f in facets}
    total = sum(weight.values())
    if not total:
        return Fraction(0)
    found = sum((weight[f] for f in passed), Fraction(0)) / total
    if passed <= FORM and not facets <= FORM:
        found *= FORM_ALONE
    return min(found, *(most for facet, most in CAPS.items() if facet in facets - passed), Fraction(1))


def score(points: float, share: Fraction) -> float:
    """Return a share of the points, rounded half up to one decimal. The whole share is exactly the points.

    This is the only place where points are rounded. The arithmetic is exact: 2.25 gives 2.3.
    """
    tenths = int(exact(points) * share * 10 + Fraction(1, 2))
    return float(points) if share == 1 else min(float(points), tenths / 10)


def exact(number: float) -> Fraction:
    """Return a number as its decimal digits say: 0.1 is a tenth, which no binary number is."""
    return Fraction(str(number))

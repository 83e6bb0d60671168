"""The points of an exercise follow from its checks and the weights of the facets."""

import pytest

from grader.engine.scoring import score
from grader.report.model import CheckResult

WEIGHTS = {"values": 4.0, "masking": 2.0, "gradients": 2.0}  # others: 1


def checks(**outcomes):
    return [
        CheckResult(f"{facet}{i}", facet, "", outcome)
        for facet, listed in outcomes.items()
        for i, outcome in enumerate(listed.split())
    ]


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ({"values": "passed", "masking": "passed", "shapes": "passed"}, 7.0),
        ({"values": "passed", "masking": "failed", "shapes": "passed"}, 5.0),
        # A facet passes only if all its checks pass.
        ({"values": "passed", "masking": "passed failed", "shapes": "passed"}, 5.0),
        ({"values": "passed", "masking": "skipped", "shapes": "passed"}, 5.0),
        ({"values": "failed", "masking": "failed", "shapes": "passed"}, 0.5),  # shapes alone: half of 1 of 7
        # Half of 2 of 8.
        ({"values": "failed", "masking": "failed", "shapes": "passed", "purity": "passed"}, 0.875),
        ({"shapes": "passed", "purity": "failed"}, 3.5),  # no values: not halved
        ({"values": "failed", "masking": "passed", "shapes": "passed"}, 1.75),  # a quarter at most
        ({"values": "passed", "masking": "could_not_grade", "shapes": "passed"}, 7.0),  # does not count
        ({"values": "passed", "masking": "failed could_not_grade", "shapes": "passed"}, 7.0),
        ({"masking": "could_not_grade"}, 0.0),
        ({"values": "failed"}, 0.0),
        ({}, 0.0),
    ],
)
def test_points_are_the_share_of_facet_weights_that_passed(outcomes, expected):
    assert score(7.0, WEIGHTS, checks(**outcomes), trivial=False) == expected


def test_a_trivial_answer_gets_no_points():
    assert (
        score(7.0, WEIGHTS, checks(values="failed", shapes="passed", gradients="passed"), trivial=True) == 0.0
    )


def test_a_facet_without_a_given_weight_has_weight_1():
    assert score(4.0, {}, checks(values="passed", shapes="failed"), trivial=False) == 2.0


def test_weights_of_zero_give_no_points_and_no_exception():
    assert score(4.0, {"shapes": 0.0}, checks(shapes="passed"), trivial=False) == 0.0

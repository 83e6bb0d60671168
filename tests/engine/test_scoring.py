"""The points of an exercise follow from its checks and the weights of the facets; a facet of weight 0 and advice cost none."""

from contextlib import closing
from fractions import Fraction

import pytest
from helpers.answers import BY_ID
from helpers.minimal import submission_of
from msgspec import structs

from grader.bundle.model import Rules
from grader.engine.draft import score, share
from grader.engine.engine import Engine
from grader.nbgrader.preprocessors import comment_on
from grader.report.model import CheckResult

WEIGHTS = {"values": 4.0, "masking": 2.0, "gradients": 2.0}  # others: 1


def checks(**outcomes):
    return [
        CheckResult(f"{facet}{i}", facet, "", outcome)
        for facet, listed in outcomes.items()
        for i, outcome in enumerate(listed.split())
    ]


@pytest.mark.parametrize(
    ("outcomes", "of_7"),
    [
        ({"values": "passed", "masking": "passed", "shapes": "passed"}, 7),
        ({"values": "passed", "gradients": "failed", "shapes": "passed"}, 5),
        # A facet passes only if all its checks pass.
        ({"values": "passed", "gradients": "passed failed", "shapes": "passed"}, 5),
        ({"values": "passed", "gradients": "skipped", "shapes": "passed"}, 5),
        ({"values": "failed", "masking": "failed", "shapes": "passed"}, 0.5),  # shapes alone: half of 1 of 7
        # Half of 2 of 8.
        ({"values": "failed", "masking": "failed", "shapes": "passed", "purity": "passed"}, 7 / 8),
        ({"shapes": "passed", "purity": "failed"}, 3.5),  # no values: not halved
        # Facets that limit the points if they fail.
        ({"values": "failed", "masking": "passed", "shapes": "passed"}, 7 / 4),
        ({"values": "passed", "masking": "failed", "shapes": "passed"}, 7 / 2),
        ({"values": "passed", "modes": "skipped", "gradients": "passed"}, 7 / 2),
        ({"values": "failed", "modes": "failed", "masking": "passed", "gradients": "passed"}, 7 / 4),
        # Facets that limit nothing: 7 of 8.
        *(({"values": "passed", "masking": "passed", "shapes": "passed", facet: "failed"}, 7 * 7 / 8)
          for facet in ("purity", "weights", "device", "precision", "defaults", "pruning")),
        ({"values": "passed", "masking": "could_not_grade", "shapes": "passed"}, 7),  # does not count
        ({"values": "passed", "masking": "failed could_not_grade", "shapes": "passed"}, 7),
        ({"masking": "could_not_grade"}, 0),
        ({"values": "failed"}, 0),
        ({}, 0),
    ],
)  # fmt: skip
def test_points_are_the_share_of_facet_weights_that_passed(outcomes, of_7):
    assert 7 * share(WEIGHTS, checks(**outcomes)) == of_7


def test_a_facet_without_a_given_weight_has_weight_1_and_all_weights_may_be_0():
    assert share({}, checks(values="passed", shapes="failed")) == Fraction(1, 2)
    assert share({"shapes": 0.0}, checks(shapes="passed")) == 0


@pytest.mark.parametrize(
    ("points", "part", "expected"),
    [
        (3.0, "3/4", 2.3),  # 2.25: half up, not to even
        (2.0, "1/40", 0.1),  # 0.05
        (0.3, "1/2", 0.2),  # 0.15, which is 0.1499… in binary
        (5.5, "1/10", 0.6),  # 0.55
        (2.1, "1/2", 1.1),  # 1.05
        (3.0, "0.7499999", 2.2),
        (1.0, "0.049", 0.0),
        (2.25, "1", 2.25),  # all points are never rounded
        (0.25, "0.9", 0.2),
        (0.07, "0.99", 0.07),  # never more than all
    ],
)
def test_points_are_rounded_half_up_to_one_decimal(points, part, expected):
    assert score(points, Fraction(part)) == expected


DETACHED = BY_ID["masked_softmax/wrong_detached"].source


@pytest.fixture
def graded(bundles, engine):
    def grade(source: str, **weights: float):
        masking = next(b for b in bundles if b.assignment == "02_masking")
        exercise = masking.exercise("masked_softmax")
        changed = structs.replace(exercise, weights={**exercise.weights, **weights})
        course = [structs.replace(masking, exercises=(masking.exercise("sequence_mask"), changed))]
        with closing(Engine(course, engine.launcher)) as grader:
            return grader.grade(submission_of(source), ["masked_softmax"]).exercises[0]

    return grade


def test_a_failed_facet_of_weight_0_does_not_fail_the_exercise(graded):
    assert graded(DETACHED).outcome == "failed"
    result = graded(DETACHED, gradients=0)
    assert (result.outcome, result.score) == ("passed", result.points)
    assert "gradients" not in {check.facet for check in result.checks}


def test_an_exception_is_reported_although_the_first_facet_is_off(graded):
    result = graded("def masked_softmax(X, valid_lens):\n    raise ValueError('no')\n", shapes=0)
    assert result.outcome == "failed"
    assert "raised ValueError: no" in {check.message for check in result.checks}


def test_a_mistake_is_named_although_a_facet_is_off(graded):
    source = "def masked_softmax(X, valid_lens):\n    return X.softmax(-1)\n"
    alternatives = graded(source).diagnosis.alternatives
    assert alternatives != ()  # the sets of known mistakes that explain the answer
    assert graded(source, gradients=0).diagnosis.alternatives == alternatives


FILL = BY_ID["masked_softmax/right_fill_1e9"].source
OVERFLOWS = "the fill value is out of range for float16"


def test_advice_names_the_mistake_the_line_and_the_reason(grade):
    (result,) = grade(FILL, ["masked_softmax"]).exercises
    (advice,) = result.advice
    assert (advice.policy, advice.says) == ("precision", OVERFLOWS)
    assert "softmax-fill-minus-1e9" in advice.mistakes
    assert advice.where == "answer.py, line 8: X = X.masked_fill(mask == 0, -1e9)"
    assert advice.reason.startswith("float16: weights and dtype: raised RuntimeError: value cannot be")
    assert comment_on(result).startswith(f"advice, which costs no points: {OVERFLOWS}: float16")


def test_a_course_may_let_a_policy_count(bundles, engine):
    counted = Rules(counted=frozenset({"precision"})).apply(bundles)
    with closing(Engine(counted, engine.launcher, engine.options)) as strict:
        report = strict.grade(submission_of(FILL), ["masked_softmax"])
    (result,) = report.exercises
    assert (result.outcome, result.advice, report.exit_status) == ("failed", (), 1)
    assert result.points / 2 < result.score < result.points
    assert result.diagnosis.says == OVERFLOWS

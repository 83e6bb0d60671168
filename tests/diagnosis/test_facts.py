"""Facts about a wrong result are true; they name the cause before an index."""

import numpy as np
import pytest
from msgspec import structs

from grader.diagnosis.facts import of_facets, of_lengths, of_numbers
from grader.diagnosis.match import diagnose
from grader.judge.observation import Observation, Seen, StudentError
from grader.judge.verdict import judge_all
from grader.report.finding import PUBLIC, Fact

AXES = ("batch", "query", "key")
WANT = np.random.default_rng(0).standard_normal((3, 2, 4))
PER_SEQUENCE = np.array([4, 4, 1])
PER_QUERY = np.array([[4, 1], [4, 4], [2, 4]])


def sentences(facts):
    return [PUBLIC.sentence(fact) for fact in facts]


def facts(rows, lens):
    """Return the facts about a result whose values in these rows are wrong, but not by a common factor."""
    got = WANT.copy()
    got[rows] = got[rows] ** 2 + 3
    return sentences(of_numbers(got, WANT, AXES, 1e-5, lens))


@pytest.mark.parametrize(
    ("lens", "padded"), [(PER_SEQUENCE, np.array([False, False, True])), (PER_QUERY, PER_QUERY < 4)]
)
def test_padding_is_named_before_an_index(lens, padded):
    assert facts(padded, lens) == ["only rows with padding are wrong"]
    assert facts(padded, None) != ["only rows with padding are wrong"]


def test_an_index_is_named_if_a_row_without_padding_is_wrong():
    assert facts([0], PER_SEQUENCE) == ["differences only at batch 0"]
    assert facts([1, 2], PER_SEQUENCE) == ["right up to batch 0, wrong from batch 1 on"]
    assert facts([0, 2], PER_SEQUENCE) == ["differences only at batch 0, 2"]


def test_lengths_of_another_shape_are_ignored():
    assert facts([2], np.array([4, 1])) == ["differences only at batch 2"]


def test_a_fact_distinguishes_all_masks_from_some_masks():
    failed = {"masking"}
    assert sentences(of_facets(failed, {"values"})) == ["correct without a mask, wrong with a mask"]
    assert sentences(of_facets(failed, {"values", "masking"})) == [
        "correct without a mask and with some masks, wrong with others"
    ]


MIDDLE = WANT.copy()
MIDDLE[..., 1:3] = MIDDLE[..., 1:3] ** 2 + 3


@pytest.mark.parametrize(
    ("got", "says"),
    [
        (0 * WANT, "all values are 0"),
        (2 * WANT, "all values are 2 × the expected values"),
        (WANT[:, ::-1], "the values are right but in the wrong positions"),
        (WANT[:, ::-1] * (1 + 1e-5), "the values are right but in the wrong positions"),
        (MIDDLE, "differences only from key 1 to 2"),
    ],
)
def test_a_pattern_of_the_values_is_named(got, says):
    assert sentences(of_numbers(got, WANT, AXES, 1e-5)) == [says]


@pytest.mark.parametrize(
    "got",
    [WANT + 5e-5 * np.sign(WANT), WANT * (1 + 1e-4), WANT.round(4)],
)
def test_rounding_is_no_pattern(got):
    assert of_numbers(got, WANT, AXES, 1e-5)[:1] != [Fact("positions")]
    assert "expected values" not in " ".join(sentences(of_numbers(got, WANT, AXES, 1e-5)))


def test_a_mask_has_no_right_values_in_wrong_positions():
    seen = WANT > 0
    assert Fact("positions") not in of_numbers(seen[:, ::-1], seen, AXES, 1e-5)


def test_an_expected_constant_is_no_pattern():
    assert of_numbers(0 * WANT + 1, 0 * WANT, AXES, 1e-5) == []


@pytest.mark.parametrize(
    ("facet", "sentence"),
    [
        ("gradients", "outputs are correct, gradients are not"),
        (
            "modes",
            "values are correct, but not in every mode: compare train(), eval() and step-by-step decoding",
        ),
        ("weights", "outputs are correct, `attention_weights` is not"),
    ],
)
def test_a_facet_is_named_only_if_the_values_are_right(facet, sentence):
    assert sentences(of_facets({facet}, {"values"})) == [sentence]
    assert of_facets({"values", facet}, {"values"}) == []
    assert of_facets(set(), {"values", facet}) == []


def test_without_train_and_eval_the_modes_are_one_call_and_several():
    assert sentences(of_facets({"modes"}, {"values"}, trains=False)) == [
        "values are correct, but not if the steps come in several calls: compare these with a single call"
    ]


@pytest.mark.parametrize("raises", [False, True])
def test_the_pattern_is_that_of_the_first_case_that_differs(raises, bundles):
    """If that case raised an exception, the values of others do not explain it."""
    exercise = next(e for b in bundles for e in b.exercises if e.name == "kernel_attention_weights")
    seen = {
        case.id: Observation(
            {
                name: Seen(header.shape, header.dtype, factor * case.expected[name])
                for name, header in case.headers.items()
                if name in case.expected
            }
        )
        for factor, case in enumerate(exercise.cases, 2)
    }
    if raises:
        seen[exercise.cases[0].id] = Observation(
            {}, error=StudentError("ValueError", "too long", None, "call")
        )
    judged = judge_all(exercise.cases, seen)
    found = diagnose(exercise, judged, [check for one in judged.values() for check in one.checks])
    says = sentences(found.facts)
    assert found.alternatives == ()
    assert ("all values are 2 × the expected values" in says) is not raises
    assert ("all values are" in " ".join(says)) is not raises


def test_what_its_check_tolerates_is_no_difference(bundles):
    """Of two wrong cases, the first is within its check's own tolerance."""
    exercise = next(e for b in bundles for e in b.exercises if e.name == "kernel_attention_weights")
    first, second = [case for case in exercise.cases if case.checks[0].judge == "equal"][:2]
    loose = structs.replace(first, checks=(structs.replace(first.checks[0], params={"tol": 10.0}),))
    exercise = structs.replace(exercise, cases=(loose, second), signatures=None)
    seen = {}
    for case, changed in (
        (loose, lambda a: a + np.arange(a.size).reshape(a.shape) / a.size),
        (second, lambda a: 2 * a),
    ):
        name = case.checks[0].of[0]
        want, header = case.expected[name], case.headers[name]
        seen[case.id] = Observation({name: Seen(header.shape, header.dtype, changed(want))})
    judged = judge_all(exercise.cases, seen)
    assert judged[loose.id].checks[0].outcome == "passed"
    found = diagnose(exercise, judged, [check for one in judged.values() for check in one.checks])
    assert "all values are 2 × the expected values" in sentences(found.facts)


@pytest.mark.parametrize(
    ("raising", "says"),
    [
        ({0: True, 1: False, 2: True}, ["the calls that raise: without lengths, with one length per query (B, T)"]),
        ({0: True, 1: True, 2: True}, []),
        ({0: False, 1: False, 2: False}, []),
    ],
)  # fmt: skip
def test_the_kinds_of_lengths_that_raise(bundles, raising, says):
    exercise = next(e for b in bundles for e in b.exercises if e.name == "masked_softmax")
    seen = [(case, Observation({}, error=ERROR if raising[axes(case)] else None)) for case in exercise.cases]
    assert sentences(of_lengths(seen)) == says


ERROR = StudentError("ValueError", "too long", None, "call")


def axes(case):
    return max([tensor.ndim for name, tensor in case.tensors.items() if "valid_len" in name], default=0)

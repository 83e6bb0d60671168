"""Facts about a wrong result are true; they name the cause before an index, and where sizes come from."""

import numpy as np
import pytest
from msgspec.structs import replace

from grader.bundle.model import RecordedCase
from grader.diagnosis.facts import of_facets, of_numbers, of_sizes
from grader.diagnosis.match import diagnose
from grader.judge.observation import Observation, Seen, StudentError
from grader.judge.verdict import judge_all
from grader.report.finding import PUBLIC

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
        (MIDDLE, "differences only from key 1 to 2"),
    ],
)
def test_a_pattern_of_the_values_is_named(got, says):
    assert sentences(of_numbers(got, WANT, AXES, 1e-5)) == [says]


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


TWO = "The size of tensor a ({a}) must match the size of tensor b ({b}) at non-singleton dimension 2"


@pytest.fixture
def cases(bundles) -> list[RecordedCase]:
    """Return cases whose input `x` is (7, 5, 12), (7, 9, 6) and (7, 4, 5), with d_model / n_head = 4, 2 and 5."""
    exercise = next(e for b in bundles for e in b.exercises if e.name == "TangledSelfAttention")
    by_id = {case.id: case for case in exercise.cases}
    found = [by_id[name] for name in ("longer-than-a-head", "narrow-heads", "one-head")]
    assert [case.tensors["x"].shape for case in found] == [(7, 5, 12), (7, 9, 6), (7, 4, 5)]
    return found


def says(cases, *sizes, message=TWO, type="RuntimeError", lines=(3, 3, 3)):
    """Return the facts about exceptions with these pairs of sizes, one per case. lines: those that raised them."""
    errors = [
        (StudentError(type, message.format(a=a, b=b), ("own.py", line, "x + y"), "call"), case)
        for (a, b), case, line in zip(sizes, cases, lines, strict=False)
    ]
    return sentences(of_sizes(errors))


def test_sizes_are_axes_of_inputs_and_quotients_of_arguments(cases):
    assert says(cases, (5, 4), (9, 2), (4, 5)) == [
        "sizes that do not match: 5 (axis 1 of `x`) and 4 (`d_model / n_head`)"
    ]


def test_a_size_with_two_origins_names_both(cases):
    assert says(cases, (12, 5), (6, 9)) == [
        "sizes that do not match: 12 (axis 2 of `x`, `d_model`) and 5 (axis 1 of `x`)"
    ]


@pytest.mark.parametrize(
    ("sizes", "lines"),
    [
        ([(12, 6), (6, 4)], (3, 3)),  # no origin of the second size
        ([(12, 7), (6, 3)], (3, 3)),  # 7 is the first axis of `x` only by chance
        ([(12, 7), (6, 7)], (3, 3)),  # the second size never changes
        ([(12, 5)], (3,)),  # one case is not enough
        ([(12, 5), (6, 9)], (4, 3)),  # another line raised the second exception
    ],
)
def test_a_size_is_explained_only_if_cases_of_other_sizes_agree(cases, sizes, lines):
    assert says(cases, *sizes, lines=lines) == []


def test_a_size_with_many_origins_is_not_explained(cases):
    square = [
        replace(case, tensors={"x": np.zeros((n, n, 3))}) for case, n in zip(cases, (12, 6), strict=False)
    ]
    assert says(square, (12, 4), (6, 2)) == []


def test_an_exception_about_something_else_has_no_sizes(cases):
    assert says(cases, (5, 4), (9, 2), message="expected {a} arguments, not {b}", type="TypeError") == []
    assert of_sizes([(None, cases[0])]) == of_sizes([]) == []


def test_a_number_of_thousands_of_digits_is_no_size(cases):
    assert says(cases, ("9" * 5000, 5), ("9" * 5001, 9)) == []

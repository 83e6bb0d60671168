"""If an answer has several known mistakes, the diagnosis nearly always names all of them, and no other."""

import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.answers import BY_ID
from msgspec.structs import replace

from grader.bundle.model import Check, Header, RecordedCase, Signatures
from grader.diagnosis.combined_mistakes import together
from grader.diagnosis.match import known_rows
from grader.diagnosis.signature import ANY, Compared, signature
from grader.judge.observation import Observation, StudentError
from grader.judge.verdict import Budget, JudgingTimeoutError, judge_all

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from common_pairs import COMMONEST, pairs

# As in many books: an odd number of features makes it raise, and the table stays in single precision.
POSITIONS = "PositionalEncoding/right_odd_crash"
SCORES = "DotProductAttention/wrong_weights_not_kept"


def named_in(grade_one, id, *changes):
    """Return the names of the known mistakes in an answer with these changes."""
    source = BY_ID[id].source
    for old, new in changes:
        assert source.count(old) == 1
        source = source.replace(old, new)
    return grade_one(source, BY_ID[id].exercise).diagnosis.alternatives


@pytest.mark.parametrize(
    ("changes", "ids"),
    [
        ([("10000", "1000")], {"pos-base-thousand"}),
        ([("X = X +", "X +=")], {"pos-input-changed"}),
        ([("torch.cos(", "torch.sin(")], {"pos-sines-only"}),
        ([("return self.dropout(X)", "return X")], {"pos-no-dropout"}),
        ([("10000", "1000"), ("X = X +", "X +=")], {"pos-base-thousand", "pos-input-changed"}),
    ],
)
def test_mistakes_are_named_beside_the_policies_of_the_book(grade_one, changes, ids):
    (names,) = named_in(grade_one, POSITIONS, *changes)
    assert ids <= set(names) <= ids | {"pos-odd-crash", "positions-table-in-float32"}


def test_a_wrong_scale_is_named_beside_weights_that_are_not_kept(grade_one):
    (names,) = named_in(grade_one, SCORES, (" / queries.shape[-1] ** 0.5", ""))
    assert set(names) == {"dot-not-scaled", "dot-keeps-no-weights"}
    # A division by a constant is not named as one by a size.
    by_axes = named_in(grade_one, SCORES, ("queries.shape[-1]", "queries.dim()"))
    sizes = {"dot-scaled-by-values", "dot-scaled-by-keys", "dot-scaled-by-queries", "dot-scaled-by-batch"}
    assert not sizes & {id for names in by_axes for id in names}


@pytest.mark.slow
def test_two_of_the_commonest_mistakes_at_once_are_both_named(bundles):
    exercises = {e.name: e for b in bundles for e in b.exercises}
    found = list(pairs(exercises))
    assert sum(map(len, COMMONEST.values())) >= 20
    assert len(found) >= 50
    assert sum(pair.both_named for pair in found) >= 0.95 * len(found)
    assert not [pair for pair in found if pair.falsely]


# ---- the rules, on small tables: three cases of different sizes, each with one slot (an entry of a signature)


CASES = [
    RecordedCase(id, "float32", (), {"out": Header((size,), "float32")}, tensors={"X": np.zeros(size)})
    for id, size in (("a", 5), ("b", 6), ("c", 7))
]
SLOTS = tuple(f"{case.id}|out" for case in CASES)
RIGHT = [1.0, 1.0, 1.0]


def table(**rows: list[float | str]) -> Signatures:
    """Return a table of known mistakes. Each has one entry per case: a value, or a state without a value."""
    all_rows = [RIGHT, *rows.values()]
    return Signatures.of(
        SLOTS,
        ((), *((id,) for id in rows)),
        np.array([[states(v) for v in row] for row in all_rows], dtype=object),
        np.array([[values(v) for v in row] for row in all_rows]),
    )


def states(value: float | str) -> str:
    """Return the state of an entry. "#1" stands for a tensor without infinity and NaN."""
    return value if isinstance(value, str) else "#1"


def values(value: float | str) -> list[float]:
    return [0.0, 0.0] if isinstance(value, str) else [value, value]


def compared(known: Signatures, *answer: float | str) -> Compared:
    return Compared(known, [states(v) for v in answer], np.array([values(v) for v in answer]))


def named(known: Signatures, *answer: float | str) -> set[frozenset[str]]:
    """Return the sets of mistakes that together explain an answer with these entries."""
    found = together(compared(known, *answer), CASES, Budget())
    return {frozenset(ids) for ids in found}


ONE = frozenset({"one"})
BOTH = frozenset({"one", "two"})


def test_each_slot_has_the_result_of_the_mistake_that_changes_it():
    known = table(one=[2.0, 2.0, 1.0], two=[1.0, 1.0, "!E call"])
    assert named(known, 2.0, 2.0, "!E call") == {BOTH}
    assert named(known, 2.0, 2.0, 3.0) == set()


def test_the_search_ends_with_its_budget():
    answer = compared(table(one=[2.0, 1.0, 1.0], two=[1.0, 3.0, 1.0]), 2.0, 3.0, 1.0)
    together(answer, CASES, Budget(60))
    with pytest.raises(JudgingTimeoutError):
        together(answer, CASES, Budget(0))


def test_a_slot_that_two_mistakes_change_may_have_either_result():
    known = table(one=[2.0, 2.0, 2.0], two=[1.0, 1.0, "odd"])
    assert named(known, 2.0, 2.0, "odd") == {BOTH}
    known = table(one=[2.0, 2.0, 2.0], two=[1.0, "odd", "odd"])
    # 9.0 is allowed in one case, but "one" alone shows in one size only.
    assert named(known, 2.0, 9.0, "odd") == set()


def test_a_mistake_is_not_named_if_a_slot_it_changes_is_right():
    known = table(one=[2.0, 2.0, 2.0], two=[1.0, 1.0, "odd"])
    assert named(known, 2.0, 1.0, "odd") == set()


def test_a_mistake_is_named_by_results_if_other_cases_raised():
    known = table(one=[2.0, 2.0, 2.0])
    assert named(known, 2.0, 2.0, "!E call") == {ONE}
    assert named(known, 2.0, "!E call", "!E call") == set()  # one size only
    assert named(known, 2.0, 2.01, "!E call") == set()


def test_an_exception_alone_does_not_show_a_mistake_that_gives_values():
    known = table(one=[2.0, 2.0, "odd"], two=["!E call", "!E call", 3.0])
    assert named(known, "!E call", "!E call", "odd") == set()


def test_only_mistakes_in_all_explanations_are_named():
    known = table(one=[2.0, 2.0, 1.0], two=[1.0, 1.0, "odd"], three=[1.0, 1.0, "odd"])
    assert named(known, 2.0, 2.0, "odd") == {ONE}


def test_a_slot_that_a_mistake_leaves_open_does_not_show_it():
    """An open slot, ANY, agrees with every result."""
    known = table(one=[2.0, 2.0, 1.0], two=[1.0, 1.0, ANY])
    assert named(known, 2.0, 2.0, 5.0) == set()


def test_mistakes_with_different_findings_are_not_both_named():
    # The third slot is a check. Its state is the code of the finding: "scale", "none" or "values".
    slots = ("a|out", "b|out", "c|check:c/modes")
    known = replace(table(one=[2.0, 3.0, "scale"], two=[1.0, 1.0, "none"]), slots=slots)
    assert named(known, 2.0, 3.0, "none") == set()
    # "values", which many mistakes share, does not contradict another finding.
    known = replace(table(one=[2.0, 3.0, "values"], two=[1.0, 1.0, "none"]), slots=slots)
    assert named(known, 2.0, 3.0, "none") == {BOTH}


def test_a_check_that_reports_only_wrong_values_shows_no_mistake():
    known = table(one=[2.0, 2.0, 1.0], two=[1.0, 1.0, "values"])
    assert named(known, 2.0, 2.0, "values") == set()


def test_a_mistake_that_only_open_slots_show_is_not_named():
    known = table(one=[1.0, ANY, "odd"], two=[1.0, "E", 1.0])
    # The third result of the answer is random, so any result agrees with it.
    answer = compared(known, 1.0, "E", ANY)
    assert known_rows(known, CASES, answer.states, answer.numbers) == (("two",),)


# ---- exceptions


def state(message: str, type: str = "RuntimeError", step: str = "call") -> str:
    """Return the state of a result that is missing because of an exception."""
    checks, headers = (Check("c/v", "values", "", "equal", ("out",)),), {"out": Header((2,), "float32")}
    case = RecordedCase("c", "float32", checks, headers, expected={"out": np.zeros(2)})
    seen = {"c": Observation({}, error=StudentError(type, message, None, step))}
    return signature([case], judge_all([case], seen))[0][0]


DTYPES = "Index put requires the source and destination dtypes match"
BY_BMM = "Expected size for first two dimensions of batch2 tensor to be: [6, 8] but got: [6, {}]."
BY_EINSUM = (
    "einsum(): subscript j has size 7 for operand 1 which does not broadcast with previously seen size 8"
)
BY_VIEW = "shape '[7, 5, {}]' is invalid for input of size {}"
BY_INDEX = "The shape of the mask [{}, 5] at index 0 does not match the shape of the indexed tensor [42, {}] at index 0"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("Target size [2, 3] is odd",), ("Target size [4, 5] is odd",)),
        (("name 'vaild_lens' is not defined", "NameError"), ("name 'valid_len' is not defined", "NameError")),
        ((BY_BMM.format(7),), (BY_EINSUM,)),
        ((BY_VIEW.format("2, 4", 168),), (BY_VIEW.format("-1", 168),)),
        ((BY_INDEX.format(21, 5), "IndexError"), (BY_INDEX.format(21, 6), "IndexError")),
    ],
)
def test_forms_of_one_exception_have_one_state(one, other):
    assert state(*one) == state(*other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((DTYPES,), ("value cannot be converted to type c10::Half without overflow",)),
        ((DTYPES,), (DTYPES, "IndexError")),
        ((DTYPES,), (DTYPES, "RuntimeError", "build")),
        ((BY_BMM.format(7),), (BY_BMM.format(5),)),
        ((BY_VIEW.format("2, 4", 168),), (BY_VIEW.format("2, 4", 280),)),
        ((BY_INDEX.format(21, 5), "IndexError"), (BY_INDEX.format(126, 5), "IndexError")),
    ],
)
def test_other_types_steps_messages_and_sizes_are_other_states(one, other):
    assert state(*one) != state(*other)


def test_a_mistake_that_raises_another_exception_is_not_named(bundles):
    """The answer fails where the known mistake fails, but with another exception."""
    exercise = next(e for b in bundles for e in b.exercises if e.name == "PositionalEncoding")
    known = exercise.signatures
    row = next(r for r, ids in enumerate(known.explains) if ids == ("pos-odd-crash",))
    single = Signatures.of(
        known.slots,
        explains=(known.explains[0], known.explains[row]),
        states=known.states[[0, row]],
        numbers=known.numbers[[0, row]],
    )
    other = [s if not s.startswith("!") else "!RuntimeError call 00000000" for s in known.states[row]]
    answer = Compared(single, other, known.numbers[row])
    assert together(answer, exercise.cases, Budget()) == ()

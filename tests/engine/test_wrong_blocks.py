"""An exercise that uses a wrong definition of its own file: how often it is tried, and with which blocks.

The engine can replace the definition by the reference block, which has the same name in `grader.given`. The order in
which the exercises are graded changes no result.
"""

from contextlib import closing
from dataclasses import replace

import pytest
from helpers.answers import BY_ID
from helpers.minimal import submission_of
from msgspec import structs

from grader.engine import grade_exercise as module
from grader.engine.engine import Engine

IMPORT = "from grader.given import masked_softmax\n"
WRONG = "def masked_softmax(X, valid_lens):\n    return X.softmax(1)\n"
RIGHT_ATTENTION, WRONG_ATTENTION = (
    BY_ID[f"AdditiveAttention/{name}"].source for name in ("right_book", "wrong_relu")
)
BOTH = ["masked_softmax", "AdditiveAttention"]


@pytest.fixture
def tries(monkeypatch):
    """Return a list that gets each try of the engine: (the exercise, the blocks that the engine replaces)."""
    made = []

    def counted(grading, file, exercise, replaced=()):
        made.append((exercise.name, tuple(replaced)))
        return once(grading, file, exercise, replaced)

    once = module.attempt
    monkeypatch.setattr(module, "attempt", counted)
    return made


def with_own(attention):
    """Return an answer that uses a wrong block of its own file instead of the reference block."""
    assert IMPORT in attention
    return attention.replace(IMPORT, WRONG)


def test_a_block_known_to_be_wrong_is_replaced_in_the_first_try(grade, tries):
    result = grade(with_own(RIGHT_ATTENTION), BOTH).exercises[1]
    assert tries == [("masked_softmax", ()), ("AdditiveAttention", ("masked_softmax",))]
    assert (result.outcome, result.score) == ("passed", result.points)
    assert result.fix_first == result.replaced == ("masked_softmax",)
    assert "your masked_softmax has an error of its own" in " ".join(result.remarks)


def test_an_exercise_that_is_wrong_itself_is_tried_with_both_blocks(grade, tries):
    result = grade(with_own(WRONG_ATTENTION), BOTH).exercises[1]
    with_each = [("AdditiveAttention", ("masked_softmax",)), ("AdditiveAttention", ())]
    assert tries == [("masked_softmax", ()), *with_each]
    assert result.outcome == "failed"
    assert result.replaced == ("masked_softmax",)


@pytest.mark.parametrize("attention", [RIGHT_ATTENTION, WRONG_ATTENTION])
def test_an_exercise_graded_before_its_block_gets_the_same_result(grade, attention):
    after = grade(with_own(attention), BOTH).exercises[1]
    alone = grade(with_own(attention), BOTH[1:]).exercises[0]
    assert replace(after, seconds=alone.seconds) == alone


@pytest.mark.parametrize(
    "imports", [IMPORT, "from grader import given\nmasked_softmax = given.masked_softmax\n"]
)
def test_an_imported_reference_block_is_not_replaced(grade, tries, imports):
    result = grade(RIGHT_ATTENTION.replace(IMPORT, imports), BOTH).exercises[-1]
    assert tries[-1] == ("AdditiveAttention", ())
    assert (result.outcome, result.replaced) == ("passed", ())


def test_a_wrong_block_that_is_not_used_is_not_replaced(grade, tries):
    source = RIGHT_ATTENTION.replace(IMPORT, "from grader.given import masked_softmax as good\n" + WRONG)
    result = grade(source.replace("= masked_softmax(", "= good("), BOTH).exercises[-1]
    assert tries == [("masked_softmax", ()), ("AdditiveAttention", ())]
    assert (result.outcome, result.replaced) == ("passed", ())


def test_the_first_exercise_of_the_course_can_be_replaced(bundles, engine):
    first = bundles[0]
    regression = structs.replace(first.exercise("kernel_regression"), given=("kernel_attention_weights",))
    course = [structs.replace(first, exercises=(first.exercise("kernel_attention_weights"), regression))]
    source = (
        "def kernel_attention_weights(queries, keys, w=1.0):\n    return queries[:, None] * keys\n"
        "def kernel_regression(queries, keys, values, w=1.0):\n"
        "    return kernel_attention_weights(queries, keys, w) @ values\n"
    )
    with closing(Engine(course, engine.launcher)) as grader:
        (result,) = grader.grade(submission_of(source), ["kernel_regression"]).exercises
    assert (result.outcome, result.fix_first) == ("passed", ("kernel_attention_weights",))

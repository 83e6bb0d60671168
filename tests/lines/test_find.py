"""A line is certain only if an edit of it passes every case in a fresh worker. Other lines are suspected."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace

import pytest
from msgspec import structs

from grader.classroom.grade import with_public_lines
from grader.engine.engine import Engine
from grader.engine.grading import HIDDEN, GradingOptions
from grader.lines import find as certify
from grader.lines.find import Source, add_lines, search
from grader.lines.search import Budget
from grader.report.model import ExerciseResult
from tests.helpers.beginners import HEAD, MASK, SOFTMAX
from tests.helpers.minimal import submission_of

WRONG = """import torch


def sequence_mask(X, valid_len, value=0):
    keep = torch.arange(X.shape[1])[None, :] <= valid_len[:, None]
    X = X.clone()
    X[~keep] = value
    return X
"""
RIGHT = WRONG.replace("<=", "<")
TWO_PLACES = WRONG.replace("= value", "= value + 1")
# No known mistake has this edit.
UNKNOWN = RIGHT.replace("torch.arange(X.shape[1])[None, :]", "torch.arange(X.shape[1])[None, :] * 3")
# Replaces the valid values instead of the padding.
TURNED = HEAD + MASK.replace("~keep", "keep")
# The named mistake has words in common with the head of the function alone.
ALIKE_HEAD = {("answer.py", line): float(line == 4) for line in range(4, 9)}
# Changes the copy Y, and returns X.
UNUSED = RIGHT.replace("    X = X.clone()\n", "    Y = X.clone()\n").replace("X[~keep]", "Y[~keep]")
RIGHT_LINE = "    keep = torch.arange(X.shape[-1]) < lens[:, :, None]"
FAULT = RIGHT_LINE.replace("<", "<=")
TWO_BLOCKS = f"""import math
from torch import nn
{HEAD}{SOFTMAX.replace(RIGHT_LINE, FAULT)}class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        scores = queries @ keys.transpose(1, 2) / math.sqrt(queries.shape[-1])
        self.attention_weights = masked_softmax(scores, valid_lens)
        return self.dropout(self.attention_weights) @ values
"""
# Wrong in the first calls, right in later ones. Only a search makes so many calls.
LIAR = "import itertools\nCOUNT = itertools.count()\n" + WRONG.replace(
    "<=", "< (next(COUNT) < 90) +"
).replace("= value", "= value + (next(COUNT) < 90)")


def checked(engine: Engine, source: str) -> ExerciseResult:
    """Grade `sequence_mask` and add lines."""
    submission = submission_of(source)
    report = engine.grade(submission, ["sequence_mask"])
    return add_lines(engine, report, {"sequence_mask": Source(submission)}, seconds=20.0).exercises[0]


def searched(engine: Engine, source: str, **budget: float):
    """Grade `sequence_mask` and search for its line. Return the result of the grading, and what was found."""
    submission = submission_of(source)
    (result,) = engine.grade(submission, ["sequence_mask"]).exercises
    return result, search(engine, Source(submission), result, Budget(wall=20.0, **budget))


@pytest.fixture(scope="module")
def plain(engine) -> ExerciseResult:
    return engine.grade(submission_of(WRONG), ["sequence_mask"]).exercises[0]


@pytest.fixture(scope="module")
def of_wrong(engine) -> ExerciseResult:
    return checked(engine, WRONG)


@pytest.fixture
def at_level(bundles, engine) -> Iterator[Callable[[int], Engine]]:
    """Return a function that makes an engine for exercises with this level of help."""
    with ExitStack() as stack:

        def made(level: int) -> Engine:
            masking = next(b for b in bundles if b.assignment == "02_masking")
            exercises = tuple(structs.replace(e, level=level) for e in masking.exercises)
            return stack.enter_context(
                closing(Engine([structs.replace(masking, exercises=exercises)], engine.launcher))
            )

        yield made


def test_the_line_of_a_wrong_comparison_is_certain(of_wrong, plain):
    diagnosis = of_wrong.diagnosis
    assert [line.certainty for line in diagnosis.lines] == ["repaired", "suspected", "suspected"]
    line = diagnosis.lines[0]
    assert (line.file, line.line) == ("answer.py", 5)
    assert line.text.startswith("keep = torch.arange")
    assert diagnosis.alternatives, "a known mistake is named, so the change is not shown"
    assert (line.change, line.text[slice(*line.touched)]) == ("", "")
    assert replace(of_wrong, diagnosis=replace(diagnosis, lines=()), seconds=plain.seconds) == plain


def test_a_line_without_a_known_mistake_shows_the_change(engine):
    diagnosis = checked(engine, UNKNOWN).diagnosis
    line = diagnosis.lines[0]
    assert not diagnosis.alternatives
    assert (line.line, line.certainty, line.change) == (5, "repaired", "an operation")
    assert "* 3" in line.text[slice(*line.touched)]


def test_level_1_shows_the_line_without_the_change_and_level_0_no_line(at_level):
    line = checked(at_level(1), UNKNOWN).diagnosis.lines[0]
    assert (line.line, line.change, line.text[slice(*line.touched)]) == (5, "", "")
    assert checked(at_level(0), WRONG).diagnosis.lines == ()


def test_a_repair_is_not_certified_without_time_for_it(engine):
    # most=0.0: the search ends at its first repair, and has no time to certify it
    _result, found = searched(engine, WRONG, most=0.0)
    assert found.repairs
    assert found.certified is None


def test_a_line_whose_result_is_not_used_is_not_certain(engine):
    line = checked(engine, UNUSED).diagnosis.lines[0]
    # "return X" may be certain: `return Y` repairs it.
    assert line.certainty == "suspected" or line.text == "return X"


def test_a_line_that_contradicts_the_named_mistake_is_unsure(engine, plain, monkeypatch):
    monkeypatch.setattr("grader.lines.find.likeness", lambda *_: ALIKE_HEAD)
    diagnosis = checked(engine, WRONG).diagnosis
    assert diagnosis.alternatives == plain.diagnosis.alternatives != ()
    assert {line.certainty for line in diagnosis.lines} == {"suspected"}


def test_another_repair_is_certified_if_the_first_is_not(engine, monkeypatch):
    tried = []
    real = certify.passes_with

    def refuse_the_first(*arguments):
        tried.append(arguments[-1])
        return len(tried) > 1 and real(*arguments)

    monkeypatch.setattr("grader.lines.find.passes_with", refuse_the_first)
    _result, found = searched(engine, WRONG, most=20.0)
    assert found.certified in found.repairs
    assert found.certified is tried[1] is not tried[0]


def test_a_repair_that_fits_the_named_mistake_comes_first(engine):
    """Inverting the mask where it is made also repairs. But the named mistake is where the mask is used."""
    result, found = searched(engine, TURNED)
    assert result.diagnosis.alternatives == (("mask-keeps-the-padding",),)
    assert any(not repair.inserts and repair.line == 5 for repair in found.repairs)
    assert found.certified is not None
    assert found.certified.line == 7


def test_the_line_that_reads_the_wrong_name_is_certain(engine):
    """The line before it stores `scores`, which no line reads. Storing in `X` instead also repairs."""
    source = HEAD + MASK + SOFTMAX.replace("scores.softmax(-1)", "X.softmax(-1) * keep")
    assert source.splitlines()[15] == "    return X.softmax(-1) * keep"
    report = engine.grade(submission_of(source), ["masked_softmax"])
    found = add_lines(engine, report, {"masked_softmax": Source(submission_of(source))}, seconds=20.0)
    line = found.exercises[0].diagnosis.lines[0]
    assert (line.line, line.certainty) == (16, "repaired")


def test_lines_of_two_mistakes_are_only_suspected(engine):
    assert {line.certainty for line in checked(engine, TWO_PLACES).diagnosis.lines} == {"suspected"}


def test_code_that_is_right_only_in_a_search_has_no_certain_line(engine):
    assert [line for line in checked(engine, LIAR).diagnosis.lines if line.certainty == "repaired"] == []
    _result, found = searched(engine, LIAR)
    assert found.repairs
    assert found.certified is None


def test_hidden_cases_get_no_line(bundles, engine):
    with closing(Engine(bundles, engine.launcher, GradingOptions(terms=HIDDEN))) as hidden:
        result = checked(hidden, WRONG)
    assert (result.outcome, result.diagnosis.lines) == ("failed", ())


def test_students_of_a_class_get_lines_of_public_cases(engine, plain):
    (result,) = with_public_lines(engine, submission_of(WRONG), [plain])
    assert result.diagnosis.lines[0].line == 5
    assert replace(result.diagnosis, lines=()) == plain.diagnosis
    assert with_public_lines(engine, submission_of(RIGHT), [plain])[0].diagnosis.lines == ()
    passed = replace(plain, outcome="passed")
    assert with_public_lines(engine, submission_of(WRONG), [passed]) == (passed,)


def test_a_mistake_in_another_exercise_gets_its_line_there(engine):
    submission = submission_of(TWO_BLOCKS)
    report = engine.grade(submission, ["masked_softmax", "DotProductAttention"])
    sources = dict.fromkeys(("masked_softmax", "DotProductAttention"), Source(submission))
    block, user = add_lines(engine, report, sources, seconds=20.0).exercises
    assert block.diagnosis.lines[0].line == TWO_BLOCKS.splitlines().index(FAULT) + 1
    assert user.diagnosis.lines == ()


@pytest.mark.parametrize(("source", "seconds"), [(WRONG, 0.0), (RIGHT, 20.0)])
def test_a_right_answer_or_no_time_means_no_line(engine, source, seconds):
    submission = submission_of(source)
    report = engine.grade(submission, ["sequence_mask"])
    assert add_lines(engine, report, {"sequence_mask": Source(submission)}, seconds=seconds) == report

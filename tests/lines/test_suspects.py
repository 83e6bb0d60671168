"""The order of suspects follows from the named mistake, lines that a report names, and effects of edits."""

import ast
import math

import numpy as np
import pytest
from msgspec.structs import replace

from grader.bundle.files import dump, loads
from grader.intake.names import read_names
from grader.judge.observation import Observation, Seen, StudentError
from grader.lines.places import places
from grader.lines.statement_words import changed_words, statements, words_by_line
from grader.lines.suspects import FAR, RAISES, Effects, distance, likeness, prior, ranked
from tests.helpers.minimal import submission_of

ANSWER = """import torch


def sequence_mask(tokens, lengths, value=0):
    out = tokens.clone()
    places = torch.arange(tokens.size(1), device=tokens.device)
    real = places.unsqueeze(0) <= lengths.unsqueeze(1)
    out[~real] = value
    return out
"""
REFERENCE = """
def sequence_mask(X, valid_len, value=0):
    steps = torch.arange(X.shape[1], device=X.device)
    keep = steps[None, :] < valid_len[:, None]
    return X.masked_fill(~keep, value)
"""
# The words of the statement that a mistake changes, and of what it becomes: `<` becomes `<=`.
WORDS = statements(changed_words(REFERENCE.replace("<", "<="), REFERENCE))
NO_EFFECTS = Effects()


@pytest.fixture
def searched():
    submission = submission_of(ANSWER)
    return places(submission, read_names(submission), "sequence_mask", ())


def first(searched, named=(), marked=(), effects=NO_EFFECTS, repaired=()):
    """Return (unit, line) of the first suspect.

    named: the words of the statements that the named mistake changes. marked: the lines that the report names.
    repaired: the lines of the repairs.
    """
    return ranked(prior(searched, likeness(searched, named), marked), effects, repaired)[0]


def test_the_statement_that_the_named_mistake_changes_comes_first(searched):
    assert first(searched, WORDS) == ("answer.py", 7)


def test_other_names_of_parameters_and_variables_give_the_same_words():
    renamed = REFERENCE.replace("valid_len", "lengths").replace("keep", "real").replace("steps", "t")
    assert list(words_by_line(ast.parse(renamed)).values()) == list(
        words_by_line(ast.parse(REFERENCE)).values()
    )


def test_a_line_that_the_report_names_comes_first(searched):
    assert first(searched, marked={("answer.py", 6)}) == ("answer.py", 6)


def test_a_statement_whose_edit_reduces_the_distance_comes_first(searched):
    effects = Effects(at_first=1.0)
    for line, distance_after in ((6, 1.0), (9, 0.9), (8, 1.0), (8, 0.2)):
        effects.add(("answer.py", line), distance_after)
    assert first(searched, effects=effects) == ("answer.py", 8)


def test_a_statement_whose_edit_repairs_comes_before_a_similar_one(searched):
    effects = Effects(1.0, {("answer.py", 8): 0.0})
    assert first(searched, WORDS, (), effects, [("answer.py", 8)]) == ("answer.py", 8)


def test_a_mistake_that_makes_a_statement_of_the_same_words_has_words():
    """Names in another order, or the words of another statement, are a change, too."""
    swapped = REFERENCE.replace("steps[None, :] < valid_len[:, None]", "valid_len[:, None] < steps[None, :]")
    assert statements(changed_words(swapped, REFERENCE))
    twice = REFERENCE.replace("    return", "    keep = steps[None, :] < valid_len[:, None]\n    return")
    (added,) = statements(changed_words(twice, REFERENCE))
    assert added in WORDS


def test_distances_are_finite_unless_code_raises(mask_case):
    name = next(n for n in mask_case.expected if not n.startswith("stage "))
    wanted = mask_case.expected[name]
    seen = {name: Seen(wanted.shape, mask_case.dtype, np.full(wanted.shape, math.nan))}
    assert 0 < distance(mask_case, Observation(seen)) <= FAR
    assert distance(mask_case, Observation({})) == 1.0
    assert distance(mask_case, Observation({}, StudentError("ValueError", "", None, ""))) == RAISES > FAR


@pytest.fixture
def mask_case(bundles):
    exercise = next(e for b in bundles for e in b.exercises if e.name == "sequence_mask")
    return next(case for case in exercise.cases if case.dtype == "float64" and len(case.expected) == 1)


def test_a_bundle_stores_the_words_of_a_mistake(bundles):
    bundle = next(b for b in bundles if b.assignment == "02_masking")
    mistake = replace(bundle.exercises[0].mistakes[0], statements=(7, 65535))
    exercise = replace(bundle.exercises[0], mistakes=(mistake,))
    copy = loads(*dump(replace(bundle, exercises=(exercise,)))).exercises[0]
    assert copy.mistakes == (mistake,)

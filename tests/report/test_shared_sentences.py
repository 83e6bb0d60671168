"""Sentences that several formats use: names of outcomes and facets, points, and the place of a failure."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from grader.bundle.check import FACETS
from grader.report import shared_sentences
from grader.report.model import CheckOutcome, CheckResult, Code, ExerciseResult, Outcome


@pytest.mark.parametrize("outcome", sorted({*get_args(Outcome), *get_args(CheckOutcome)}))
def test_every_outcome_has_a_name_and_a_mark(outcome):
    assert shared_sentences.outcome_name(outcome)
    assert len(shared_sentences.MARKS[outcome]) == 1


@pytest.mark.parametrize("outcome", get_args(CheckOutcome))
def test_the_short_name_of_an_outcome_fits_its_column(outcome):
    assert 0 < len(shared_sentences.short_outcome_name(outcome)) <= 8


@pytest.mark.parametrize("facet", FACETS)
def test_every_facet_is_translated(facet, monkeypatch):
    monkeypatch.setattr(shared_sentences, "_", str.upper)
    assert shared_sentences.facet_name(facet) == facet.upper()


@pytest.mark.parametrize(
    ("outcomes", "short", "in_words"),
    [
        (["passed", "passed"], "purity ✓ 2", "purity: 2 of 2 checks passed."),
        (["passed", "failed"], "purity ✗ 1/2", "purity: 1 of 2 checks passed."),
        (["passed", "failed", "skipped"], "purity ✗ 1/3 (1 skipped)", "purity: 1 of 3 checks passed."),
        (["passed", "skipped"], "purity 1/2 (1 skipped)", "purity: 1 of 2 checks passed."),
        (["skipped", "skipped"], "purity skipped", "purity: skipped."),
    ],
)
def test_a_facet_says_how_many_of_its_checks_passed(outcomes, short, in_words):
    checks = [CheckResult(f"c/{n}", "purity", "", outcome) for n, outcome in enumerate(outcomes)]
    (count,) = shared_sentences.facet_counts(checks)
    assert shared_sentences.facet_with_mark(count) == short
    assert shared_sentences.facet_in_words(count) == in_words


@pytest.mark.parametrize(
    ("score", "text"), [(None, "– / 2.5"), (0.0, "0 / 2.5"), (1.5, "1.5 / 2.5"), (1 / 3, "0.33 / 2.5")]
)
def test_points_have_no_needless_zeros(score, text):
    assert shared_sentences.points(score, 2.5) == text


def test_a_sentence_explains_only_exercises_that_were_not_graded():
    graded = ExerciseResult("f", "01_a", "failed", 0.0, 1.0)
    not_graded = ExerciseResult("g", "01_a", "could_not_grade", None, 1.0)
    assert shared_sentences.grader_error([graded]) == ""
    assert "No points are deducted." in shared_sentences.grader_error([graded, not_graded])


CODE = Code(
    "a.py", 3, ("class A(nn.Module):", "    def forward(self, X):", "        return X"), (), ("forward", 4)
)


def failing(where="", outcome="failed", code=CODE, message="", checks=True, problem=""):
    check = CheckResult("c/x", "values", "the result", "failed", where=where, message=problem)
    return ExerciseResult(
        "A", "01_a", outcome, 0.0, 1.0, message=message, checks=(check,) if checks else (), code=code
    )


@pytest.mark.parametrize(
    ("result", "place"),
    [
        (failing(), "`forward` (defined in a.py, line 4)"),
        (failing("row 1"), "`forward` (defined in a.py, line 4) · row 1"),
        (
            failing(problem="raised TypeError: no such argument"),
            "",
        ),  # an exception, and its line is not known
        (failing("b.py, line 7: f()", problem="raised TypeError"), "b.py, line 7: f()"),
        (failing("row 1", code=None), "row 1"),
        (failing("row 1", code=replace(CODE, marked=(5,))), "a.py, line 5: return X · row 1"),
        (failing("a.py, line 5: return X"), "a.py, line 5: return X"),
        (failing("a.py, line 5", code=replace(CODE, marked=(5,))), "a.py, line 5: return X"),
        (failing("row 1", code=replace(CODE, marked=(5,)), message="a.py, line 5: no"), "row 1"),
        (
            failing("row 1", code=replace(CODE, marked=(5,)), message="a.py, line 50: no"),
            "a.py, line 5: return X · row 1",
        ),
        (failing(outcome="other_interface", checks=False), "a.py, line 4: def forward(self, X):"),
        (failing(outcome="blocked", checks=False), ""),
    ],
)
def test_the_place_has_a_known_line_or_else_the_called_function(result, place):
    assert shared_sentences.place(result) == place

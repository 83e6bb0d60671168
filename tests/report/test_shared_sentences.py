"""Words that several formats use: names of outcomes and facets, points, and the place of a failure."""

from dataclasses import replace
from typing import get_args

import pytest

from grader.bundle.model import FACETS
from grader.report import shared_sentences
from grader.report.model import CheckOutcome, CheckResult, Code, ExerciseResult, Outcome


def test_every_outcome_and_facet_has_a_name_that_can_be_translated(monkeypatch):
    monkeypatch.setattr(shared_sentences, "_", str.upper)
    for outcome in {*get_args(Outcome), *get_args(CheckOutcome)}:
        assert shared_sentences.outcome_name(outcome).isupper()
        assert len(shared_sentences.LOOKS[outcome].mark) == 1
    for outcome in get_args(CheckOutcome):  # in a narrow column
        assert 0 < len(shared_sentences.short_outcome_name(outcome)) <= 8
    assert [shared_sentences.facet_name(facet) for facet in FACETS] == [facet.upper() for facet in FACETS]


def test_a_facet_with_skipped_checks_says_how_many_passed():
    checks = [CheckResult(f"c/{n}", "purity", "", outcome) for n, outcome in enumerate(["passed", "skipped"])]
    (count,) = shared_sentences.facet_counts(checks)
    assert shared_sentences.facet_with_mark(count) == "purity 1/2 (1 skipped)"
    assert shared_sentences.facet_in_words(count) == "purity: 1 of 2 checks passed."


def test_points_have_no_needless_zeros():
    assert [shared_sentences.points(score, 2.5) for score in (None, 0.0, 1.5, 1 / 3)] == [
        f"{score} / 2.5" for score in ("–", "0", "1.5", "0.33")
    ]


CODE = Code(
    "a.py", 3, ("class A(nn.Module):", "    def forward(self, X):", "        return X"), (), ("forward", 4)
)
MARKED = replace(CODE, marked=(5,))


def failing(where="", outcome="failed", code=CODE, names=0, rule="values", file="", line=0):
    """Return a result. names: the line of a.py that its message names."""
    check = CheckResult("c/x", "values", "the result", "failed", where=where, rule=rule, file=file, line=line)
    checks = (check,) if outcome == "failed" else ()
    place = {"file": "a.py", "line": names} if names else {}
    return ExerciseResult("A", "01_a", outcome, 0.0, 1.0, checks=checks, code=code, **place)


def raised(file, line, text="", **more):
    """Return a result whose check reports an exception in this line."""
    where = f"{file}, line {line}" + (f": {text}" if text else "")
    return failing(where, rule="exception", file=file, line=line, **more)


@pytest.mark.parametrize(
    ("result", "place"),
    [
        (failing(), ""),
        (failing("row 1"), "row 1"),
        (failing(rule="exception"), ""),  # and its line is not known
        (raised("b.py", 7, "f()"), "b.py, line 7: f()"),
        (failing("row 1", code=None), "row 1"),
        (failing("row 1", code=MARKED), "a.py, line 5: return X · row 1"),
        (raised("a.py", 5, "return X"), "a.py, line 5: return X"),
        (raised("a.py", 5, code=MARKED), "a.py, line 5: return X"),
        (failing("row 1", code=MARKED, names=5), "row 1"),
        (failing("row 1", code=MARKED, names=50), "a.py, line 5: return X · row 1"),
        (failing(outcome="other_interface"), "a.py, line 4: def forward(self, X):"),
        (failing(outcome="blocked"), ""),
    ],
)
def test_the_place_has_a_known_line(result, place):
    assert shared_sentences.place(result) == place

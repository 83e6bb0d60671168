"""If the page of a known mistake has an example, its output for the mistake differs from that for the reference."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch
from helpers.lanes import first_of_each
from helpers.mistake_pages import Lesson, difference, example, lines

import grader
import grader.given
from grader.authoring.bank import apply
from grader.authoring.content import read_all

GIVEN = grader.given
ROOT = Path(__file__).resolve().parents[2]
ASSIGNMENTS = read_all(ROOT / "solutions")
each_assignment = pytest.mark.parametrize("assignment", first_of_each(ASSIGNMENTS, name=lambda a: a.name))


@pytest.fixture(autouse=True)
def every_block(monkeypatch):
    """Restore all building blocks: a test that records a bundle leaves only those of its last exercise."""
    monkeypatch.setitem(sys.modules, "grader.given", GIVEN)
    monkeypatch.setattr(grader, "given", GIVEN)


@each_assignment
def test_the_example_of_a_page_shows_the_mistake(assignment):
    torch.set_num_threads(1)
    reference = Lesson(assignment.source)
    right, checked, without_difference, failing = {}, 0, [], []
    for mistake in assignment.mistakes():
        code = example(mistake.page)
        if not code:
            continue
        checked += 1
        if code not in right:
            right[code] = reference.shows(code)
            failing += [mistake.id for run in right[code] if any("raised" in str(x) for x in run.values())]
        if not difference(right[code], Lesson(apply(mistake, assignment.source)).shows(code)):
            without_difference.append(mistake.id)
    assert failing == []  # no example raises an exception for a right answer
    assert without_difference == []
    assert checked >= 0.6 * len(assignment.mistakes())  # most pages have an example


@pytest.mark.slow
def test_no_example_shows_a_right_answer_as_wrong():
    """An example shows no difference between the reference and a right answer that is written differently."""
    torch.set_num_threads(1)
    assignment = next(a for a in ASSIGNMENTS if a.name == "03_scoring")
    variants = [v for v in assignment.variants("DotProductAttention") if v.kind == "same"]
    codes = {example(m.page) for m in assignment.mistakes("DotProductAttention")} - {""}
    reference = Lesson(assignment.source)
    right = {code: reference.shows(code) for code in codes}
    for variant in variants:
        other = Lesson(apply(variant, assignment.source))
        assert {code: d for code in codes if (d := difference(right[code], other.shows(code)))} == {}, (
            variant.id
        )


@each_assignment
def test_an_example_fits_into_eighty_columns(assignment):
    """A line of at most 78 characters, with its prompt, leaves a space on either side."""
    wide = {
        line: mistake.id
        for mistake in assignment.mistakes()
        for line in lines(mistake.page)
        if len(line.strip()) > 78
    }
    assert wide == {}

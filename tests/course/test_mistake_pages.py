"""The example of a page prints what the page says for the reference, and something else for each of its mistakes."""

import re
import sys

import pytest
import torch
from helpers.command_line import ROOT
from helpers.lanes import first_of_each
from helpers.mistake_pages import examples, prints_what_the_page_says

import grader
import grader.given
from grader.authoring.bank import apply
from grader.authoring.content import read_all

GIVEN = grader.given
ASSIGNMENTS = read_all(ROOT / "solutions")
each_assignment = pytest.mark.parametrize("assignment", first_of_each(ASSIGNMENTS, name=lambda a: a.name))


@pytest.fixture(autouse=True)
def every_block(monkeypatch):
    """Restore all building blocks: a test that records a bundle leaves only those of its last exercise."""
    monkeypatch.setitem(sys.modules, "grader.given", GIVEN)
    monkeypatch.setattr(grader, "given", GIVEN)
    torch.set_num_threads(1)


@each_assignment
def test_the_example_of_a_page_shows_the_mistake(assignment):
    mistakes = assignment.mistakes()
    assert [m.id for m in mistakes if not any(e.want for e in examples(m.page))] == []
    pages = {m.page: m.id for m in mistakes}
    wrong_page = [
        id for page, id in pages.items() if not all(prints_what_the_page_says(page, assignment.source))
    ]
    assert wrong_page == []
    not_shown = [
        m.id for m in mistakes if any(prints_what_the_page_says(m.page, apply(m, assignment.source)))
    ]
    assert not_shown == []


@pytest.mark.slow
def test_no_example_shows_a_right_answer_as_wrong():
    """An example prints what the page says for a right answer that is written differently, too."""
    assignment = next(a for a in ASSIGNMENTS if a.name == "03_scoring")
    pages = {m.page for m in assignment.mistakes("DotProductAttention")}
    for variant in assignment.variants("DotProductAttention"):
        if variant.kind == "same":
            source = apply(variant, assignment.source)
            assert all(all(prints_what_the_page_says(page, source)) for page in pages), variant.id


@each_assignment
def test_a_page_fits_on_a_screen_and_holds_no_line_of_the_solution(assignment):
    """A line of an example has at most 78 characters, with its prompt. Short lines of a solution may occur anywhere."""
    solution = "".join(re.findall(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", assignment.source, re.S))
    lines = {line.partition("  #")[0].strip() for line in solution.splitlines()}
    lines = {line.removeprefix("return ") for line in lines if len(line) > 24}
    for mistake in assignment.mistakes():
        assert [line for line in lines if line in mistake.page] == [], mistake.id
        code = re.findall(r"^ *((?:>>>|\.\.\.).*)$", mistake.page, re.M)
        assert [line for line in code if len(line) > 78] == [], mistake.id

"""Every question of a lesson has one short answer, which also names the usual wrong one."""

import re

import pytest
from helpers.command_line import ROOT

from grader.authoring.content import read_all
from grader.bundle.answers import ANSWERS_FILE, WRONG, answers, questions

MOST = 150  # words
SOLUTIONS = read_all(ROOT / "solutions")
TEXTS = {a.name: a.answers[ANSWERS_FILE].decode() for a in SOLUTIONS}


@pytest.mark.parametrize("assignment", SOLUTIONS, ids=[a.name for a in SOLUTIONS])
def test_each_question_has_one_answer_in_order(assignment):
    asked = questions(assignment.source)
    assert list(asked) == list(range(1, len(asked) + 1))
    assert re.findall(r"^## (.+)$", TEXTS[assignment.name], re.M) == [str(number) for number in asked]
    # as the page of the lesson counts them
    page = (ROOT / "assignments" / assignment.name / "README.md").read_text("utf-8")
    listed = page.partition("## Questions to think about\n")[2].partition("\n## ")[0]
    assert len(re.findall(r"^\d+\. ", listed, re.M)) == len(asked) > 2


@pytest.mark.parametrize(
    ("name", "number", "answer"), [(n, k, a) for n, text in TEXTS.items() for k, a in answers(text).items()]
)
def test_an_answer_is_short_and_names_the_usual_wrong_one(name, number, answer):
    assert len(answer.split()) <= MOST
    parts = answer.split("\n\n")
    assert sum(part.startswith(WRONG) for part in parts) == 1
    assert not parts[0].startswith(WRONG)
    assert max(map(len, answer.splitlines())) <= 78
    assert "$" not in answer  # a terminal shows no formulas

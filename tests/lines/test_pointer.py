"""A repair is certain only if all others are in its statement or a neighbouring one.

A repair is an edit with which the answer passes. Repairs that insert something are ignored if one inserts nothing.
"""

import pytest

from grader.intake.names import read_names
from grader.lines.find import first_agreed
from grader.lines.places import Edit, places
from grader.lines.rules import edits
from tests.helpers.minimal import submission_of

MODULE = """from torch import nn


class Block(nn.Module):
    def __init__(self, size, width):
        super().__init__()
        self.layer = nn.Linear(size, size)
        self.norm = nn.LayerNorm(size)
        self.wide = nn.Linear(width, size)

    def forward(self, model, pairs):
        one, other = pairs
        Y = self.layer(one)
        total = 0
        for step in range(2):
            total = total + step
        return model(Y, other)
"""


@pytest.fixture(scope="module")
def repair():
    """Return a function that finds a repair by its kind, the start of its line, and a part of its new text."""
    submission = submission_of(MODULE)
    (place,) = places(submission, read_names(submission), "Block", ())
    lines = MODULE.splitlines()

    def find(kind: str, line: str, new: str = "") -> Edit:
        return next(
            edit
            for edit in edits(place)
            if edit.kind == kind
            and lines[edit.line - 1].strip().startswith(line)
            and new in edit.pieces[0][2]
        )

    return find


def test_repairs_of_distant_statements_certify_none(repair):
    assert first_agreed([repair("drop call", "Y ="), repair("drop statement", "for")]) is None


def test_edits_that_share_a_statement_agree(repair):
    exchanged = repair("exchange", "self.layer", "width")
    beside = repair("name", "self.wide", "size")
    assert exchanged.touched >= beside.touched
    assert first_agreed([exchanged, beside]) is exchanged


def test_the_first_of_two_repairs_beside_one_another_is_certified(repair):
    call, below = repair("drop call", "Y ="), repair("drop statement", "total = 0")
    assert first_agreed([call, below]) is call
    assert first_agreed([below, call]) is below


def test_a_keyword_and_a_distant_repair_certify_none(repair):
    keyword, distant = repair("add argument", "self.layer", "bias=False"), repair("drop call", "Y =")
    assert first_agreed([keyword, distant]) is None

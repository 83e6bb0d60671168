"""Twelve typical wrong answers, two for each of six facets: one screen shows what is wrong, where, and a picture."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from helpers.lanes import first_of_each
from rich.console import Console

from grader.authoring.bank import apply
from grader.authoring.content import read_all
from grader.intake.read import Submission, Unit
from grader.report.terminal import show

ROOT = Path(__file__).resolve().parents[2]
ROWS = 24

# exercise, mistake, kind of its picture, words on its screen
TYPICAL = [
    ("transpose_qkv", "heads-left-on-an-axis", "chain", "your result  (5, 3, 2, 4) ✗"),
    ("kernel_regression", "pool-column-of-answers", "chain", "expected (7,)"),
    ("DotProductAttention", "dot-not-scaled", "grids", "Values"),
    ("MultiHeadAttention", "mha-keys-and-values-through-wq", "grids", "the keys split into heads"),
    ("masked_softmax", "softmax-one-key-too-many", "grids", "│: the end of the valid length"),
    (
        "MultiHeadAttention",
        "mha-lens-tiled",
        "grids",
        "Intermediate result: the valid lengths, entry b·H + h for head h of sequence b",
    ),
    ("masked_softmax", "softmax-detached", "grids", "0✗"),
    ("MultiHeadAttention", "mha-keys-cut-off", "grids", "0✗"),
    ("DotProductAttention", "dot-dropout-rate-fixed", "bars", "measured"),
    ("PositionalEncoding", "pos-no-dropout", "bars", "0% ✗"),
    ("prune_heads", "prune-zeroed-and-not-removed", "bars", "396 ✗"),
    ("head_importance", "importance-other-way-round", "grids", "9.1740✗"),
]


@pytest.fixture(scope="module")
def assignments():
    return read_all(ROOT / "solutions")


@pytest.mark.parametrize("row", first_of_each(TYPICAL, name=lambda row: row[1]))
def test_a_typical_wrong_answer_fits_one_screen(engine, assignments, row):
    name, mistake, kind, words = row
    assignment = next(a for a in assignments if a.mistakes(name))
    known = next(m for m in assignment.mistakes(name) if m.id == mistake)
    file = f"{assignment.module}.py"
    submission = Submission(Path(file), (Unit(file, apply(known, assignment.source)),))
    report = engine.grade(submission, [name])
    (result,) = report.exercises
    assert result.picture is not None
    assert result.picture.kind == kind
    out = io.StringIO()
    show(report, Console(file=out, width=80, highlight=False))
    screen = out.getvalue()
    assert len(screen.splitlines()) <= ROWS, screen
    assert words in screen
    assert known.says[:30] in screen
    assert f"Next: fix {name}" in screen

"""Twelve typical wrong answers, two for each of six facets: one screen shows what is wrong, where, and a picture."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.lanes import first_of_each
from rich.cells import cell_len
from rich.console import Console

from grader.authoring.bank import apply
from grader.authoring.content import read_all
from grader.intake.read import Submission, Unit
from grader.lines.find import Source, add_lines
from grader.report.model import Report
from grader.report.terminal import show, show_lines

ROOT = Path(__file__).resolve().parents[2]
ROWS = 24  # of a terminal; one has the command

# exercise, mistake, kind of its picture, words on its screen
TYPICAL = [
    ("masked_softmax", "softmax-one-key-too-many", "grids", "│: the end of the valid length"),
    ("transpose_qkv", "heads-left-on-an-axis", "chain", "your result  (5, 3, 2, 4) ✗"),
    ("kernel_regression", "pool-column-of-answers", "chain", "expected (7,)"),
    ("DotProductAttention", "dot-not-scaled", "grids", "Values"),
    ("MultiHeadAttention", "mha-keys-and-values-through-wq", "grids", "the keys split into heads"),
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
    source = apply(known, assignment.source)
    submission = Submission(Path("answer.py"), (Unit("answer.py", source),))
    report = engine.grade(submission, [name])
    with_line = add_lines(engine, report, {name: Source(submission)})
    (result,) = report.exercises
    assert result.picture is not None
    assert result.picture.kind == kind
    screen = printed(with_line, 80)
    assert len(screen) < ROWS, screen
    assert all(cell_len(line) <= 80 for line in screen)
    text = " ".join(" ".join(screen).split())
    assert " ".join(words.split()) in text
    assert known.says[:30] in text
    assert f"Next: fix {name}" in text
    line = re.search(r"where .*?answer\.py, line (\d+)", text)[1]
    assert int(line) in range(result.code.first, result.code.first + len(result.code.lines))
    narrow = printed(with_line, 40)
    assert all(cell_len(line) <= 40 for line in narrow)
    assert whole_words(narrow) <= whole_words(printed(with_line, 400)), "no word is broken"


def printed(report: Report, width: int) -> list[str]:
    """Return what `grader check` prints: the report without lines to look at, then these."""
    before = (replace(e, diagnosis=replace(e.diagnosis, lines=())) for e in report.exercises)
    out = io.StringIO()
    console = Console(file=out, width=width, highlight=False)
    show(replace(report, exercises=tuple(before)), console)
    show_lines(report, console)
    return out.getvalue().splitlines()


def whole_words(lines: list[str]) -> set[str]:
    """Return the words without digits. In a narrow report, a colon separates a label from its text."""
    parts = (part.removesuffix(":") for part in " ".join(lines).split())
    return {part for part in parts if re.fullmatch(r"[A-Za-z`,.;_]+", part)}

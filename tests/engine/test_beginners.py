"""Reports for beginners: the outcome and the sentence that helps for forty answers, and for files with an error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers.beginners import ANSWERS, HEAD, MASK, SOFTMAX

from grader.intake.read import Submission, submission_from
from grader.report.terminal import plain


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name == "endless_loop")) for name in ANSWERS]
)
def test_a_beginner_gets_the_sentence_that_helps(engine, name):
    answer = ANSWERS[name]
    submission = submission_from(Path("masking.py"), answer.source.encode())
    report = engine.grade(submission, [answer.exercise])
    faults = [fault.sentence() for fault in submission.faults]
    text = " ".join(" ".join([*faults, plain(report)]).split())
    assert report.exercises[0].outcome == answer.outcome, text
    for words in answer.says:
        assert words in text


def test_there_are_forty_answers():
    assert len(ANSWERS) == 40


BROKEN = MASK.replace("value=0):", "value=0)")


def of_cells(*cells: str) -> Submission:
    """Return a notebook with these code cells."""
    book = {"cells": [{"cell_type": "code", "source": cell} for cell in cells], "nbformat": 4}
    return submission_from(Path("masking.ipynb"), json.dumps({**book, "metadata": {}}).encode())


@pytest.mark.parametrize(
    "read", [lambda *cells: submission_from(Path("m.py"), "\n".join(cells).encode()), of_cells]
)
def test_a_syntax_error_blocks_only_its_definition(engine, read):
    report = engine.grade(read(HEAD, BROKEN, SOFTMAX), ["sequence_mask", "masked_softmax"])
    assert [result.outcome for result in report.exercises] == ["blocked", "passed"]
    code, caret = report.exercises[0].message.splitlines()[-2:]
    assert code == "def sequence_mask(X, valid_len, value=0)"
    assert caret.index("^") == len(code)


def test_two_cells_that_define_one_name_are_reported(engine):
    wrong = "def sequence_mask(X, valid_len, value=0):\n    return X\n"
    (result,) = engine.grade(of_cells(HEAD, MASK, wrong), ["sequence_mask"]).exercises
    assert "sequence_mask is defined twice" in " ".join(result.remarks)
    assert "masking.ipynb cell 2" in " ".join(result.remarks)


@pytest.mark.parametrize("call", ["exit()", "quit()", "import sys; sys.exit(0)"])
def test_top_level_code_that_ends_python_is_skipped_and_reported(engine, call):
    report = engine.grade(submission_from(Path("m.py"), f"{HEAD}{call}\n{MASK}".encode()), ["sequence_mask"])
    assert report.exercises[0].outcome == "passed"
    assert "m.py, line 3 ends Python: remove this statement; the grader skipped it" in report.remarks


DEBUGGED = "def sequence_mask(X, valid_len, value=0):\n    return keep(X)\n"


@pytest.mark.parametrize(
    "start", ["breakpoint()", "import pdb as p; p.set_trace()", "from pdb import set_trace; set_trace()"]
)
def test_a_debugger_in_a_helper_is_reported(engine, start):
    source = f"{HEAD}def keep(X):\n    {start}\n    return X\n\n\n{DEBUGGED}"
    text = plain(engine.grade(submission_from(Path("m.py"), source.encode()), ["sequence_mask"]))
    assert "the code starts a debugger: remove `breakpoint`" in " ".join(text.split())
    assert "BdbQuit" not in text


def test_a_debugger_at_the_top_is_skipped_and_reported(engine):
    report = engine.grade(
        submission_from(Path("m.py"), f"{HEAD}breakpoint()\n{MASK}".encode()), ["sequence_mask"]
    )
    assert report.exercises[0].outcome == "passed"
    assert report.faulty
    says = "m.py, line 3 starts a debugger: remove `breakpoint` or `set_trace`; the grader skipped it"
    assert says in report.remarks


@pytest.mark.parametrize("fault", ["1 / 0\n", "def g(:\n", "exit()\n", "x = misspelt\n"])
def test_a_file_with_an_error_does_not_pass_all_checks(engine, fault):
    source = HEAD + SOFTMAX
    report = engine.grade(submission_from(Path("m.py"), f"{source}\n{fault}".encode()), ["masked_softmax"])
    assert report.exercises[0].outcome == "passed"
    text = plain(report)
    assert "All checks passed." not in text
    assert "but the file has an error" in text


def test_a_file_without_an_error_passes_all_checks(engine):
    report = engine.grade(submission_from(Path("m.py"), (HEAD + SOFTMAX).encode()), ["masked_softmax"])
    assert "All checks passed." in plain(report)

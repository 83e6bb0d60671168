"""The report shows the first lines that an answer printed in the first failed case, and never those of hidden cases."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from helpers.beginners import HEAD, MASK, SOFTMAX

from grader.engine.engine import Engine
from grader.intake.read import Submission, Unit
from grader.report.html import page
from grader.report.model import to_json


@pytest.fixture
def printed(engine):
    """Return a function that grades a file in which `sequence_mask` has the given body."""

    def grade(body: str, hidden: bool = False):
        source = f"{HEAD}print('while loading')\n\n\ndef sequence_mask(X, valid_len, value=0):\n{body}\n\n\n{SOFTMAX}"
        options = replace(engine.options, hidden=hidden)
        grader = Engine(engine.bundles, engine.launcher, options)
        try:
            submission = Submission(Path("masking.py"), (Unit("masking.py", source),))
            return grader.grade(submission, ["sequence_mask"])
        finally:
            grader.close()

    return grade


def test_printed_lines_are_shown_in_html_and_json(printed):
    report = printed("    print('the shape is', tuple(X.shape))\n    return X")
    (result,) = report.exercises
    assert result.printed == "the shape is (5, 4)\nthe shape is (5, 4)"  # the case calls the function twice
    assert "the shape is (5, 4)" in page(report)
    assert to_json(report)["exercises"][0]["printed"] == result.printed


def test_only_what_the_first_failed_case_printed_is_shown(printed):
    body = "    print(X.dim(), 'axes')\n    return X * (X.dim() == 2) + torch.zeros_like(X)"
    assert printed(body).exercises[0].printed == "2 axes\n2 axes"  # of two calls


def test_many_and_long_lines_are_cut(printed):
    shown = (
        printed("    for i in range(100):\n        print(i, 'x' * 5000)\n    return X").exercises[0].printed
    )
    assert len(shown) < 1200
    assert shown.endswith("…")
    assert shown.startswith("0 xxx")
    lines = printed("    for i in range(100):\n        print(i)\n    return X").exercises[0].printed.split()
    assert lines == ["0", "1", "2", "3", "4", "…"]


def test_control_characters_are_shown_as_their_codes(printed):
    shown = printed("    print('\\x1b[2J\\x07red\\u202e')\n    return X").exercises[0].printed
    assert shown.splitlines() == ["\\u001b[2J\\u0007red\\u202e"] * 2  # of two calls


def test_what_is_printed_before_an_exception_is_shown(printed):
    assert printed("    print('before')\n    return Y").exercises[0].printed == "before"


def test_what_a_passed_answer_prints_is_not_shown(printed):
    body = MASK.partition("\n")[2].rstrip().replace("    steps", "    print(value)\n    steps", 1)
    (result,) = printed(body).exercises
    assert (result.outcome, result.printed) == ("passed", "")


def test_nothing_printed_in_a_hidden_case_is_shown(printed):
    body = "    print('the input is', X.sum().item())\n    return X"
    report = printed(body, hidden=True)
    assert report.exercises[0].outcome == "failed"
    assert "the input is" not in str(report)


def test_only_student_output_is_shown_if_the_answer_ends_its_worker(printed):
    report = printed("    import os\n    print('the end', flush=True)\n    os._exit(3)")
    assert report.exercises[0].printed == "the end"
    assert printed("    import os\n    os._exit(3)").exercises[0].printed == ""

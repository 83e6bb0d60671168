"""What beginners get to read: each of forty answers has its outcome, and the sentence that helps."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.beginners import ANSWERS

from grader.intake.read import submission_from
from grader.report.terminal import plain


@pytest.mark.parametrize("name", ANSWERS)
def test_a_beginner_gets_the_sentence_that_helps(engine, name):
    answer = ANSWERS[name]
    submission = submission_from(Path("masking.py"), answer.source.encode())
    report = engine.grade(submission, [answer.exercise])
    faults = [fault.sentence() for fault in submission.faults]
    text = " ".join(" ".join([*faults, plain(report)]).split())
    assert report.exercises[0].outcome == answer.outcome, text
    for words in answer.says:
        assert words in text


def test_there_are_forty():
    assert len(ANSWERS) == 40

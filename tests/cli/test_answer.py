"""`grader answer`: an answer appears when the exercises of its lesson have passed."""

import pytest
from helpers.command_line import ROOT, run

from grader.bundle.answers import ANSWERS_FILE

HEADS = "04_heads"


def test_the_answer_is_shown_when_the_exercises_have_passed(course):
    early = run("answer", "4", "3", cwd=course)
    assert early.returncode == 1
    assert "Still to do: transpose_qkv, transpose_output." in early.stdout
    assert "Often said" not in early.stdout
    right = (ROOT / "solutions" / HEADS / "heads.py").read_text("utf-8")
    (course / HEADS / "heads.py").write_text(right, "utf-8")
    assert run("check", HEADS, cwd=course).returncode == 0
    shown = run("answer", "4", "3", cwd=course)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "how does the memory for the attention weights grow?" in " ".join(
        shown.stdout.replace("▌", " ").split()
    )
    assert "Often said: H heads cost H times as much" in shown.stdout
    assert run("answer", "transpose_qkv", "3", cwd=course).stdout == shown.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("99", "1"), "there is no assignment 99; there are 01_attention_pooling, "),
        (("04", "9"), "04_heads has no question 9; its questions are 1, 2, 3"),
        (("04", "why"), "'why' is not a valid integer"),
        (("01", "1"), "this course has no answers to the questions of 01_attention_pooling"),
    ],
)
def test_what_is_not_there_is_said_in_a_sentence(course, words, sentence):
    (course / "01_attention_pooling" / ANSWERS_FILE).unlink()
    done = run("answer", *words, cwd=course)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr

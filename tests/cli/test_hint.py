"""`grader hint`: one more hint per call, and a question about the last wrong answer."""

from __future__ import annotations

from helpers.command_line import WRONG, run


def test_each_call_shows_one_more_hint(course):
    first, second = (
        run("hint", "transpose_qkv", cwd=course).stdout,
        run("hint", "transpose_qkv", cwd=course).stdout,
    )
    assert "1. " in first
    assert "2. " not in first
    assert "2. " in second


def test_hints_begin_with_a_question_about_the_mistake(course):
    (course / "04_heads" / "heads.py").write_text(WRONG, "utf-8")
    assert "known mistake" in run("check", "transpose_qkv", cwd=course).stdout
    first, second = (
        run("hint", "transpose_qkv", cwd=course).stdout,
        run("hint", "transpose_qkv", cwd=course).stdout,
    )
    assert "About your last answer: " in first
    assert "grader explain" not in first
    assert "Read more about it: grader explain heads-cut-straight" in second

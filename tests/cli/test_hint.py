"""`grader hint`: one more hint per call, and a question about the last wrong answer."""

from helpers.command_line import WRONG, run


def test_each_call_shows_one_more_hint(course):
    first = run("hint", "transpose_qkv", cwd=course).stdout
    second = run("hint", "transpose_qkv", cwd=course).stdout
    assert "1. " in first
    assert "2. " not in first
    assert "2. " in second


def test_hints_begin_with_a_question_about_the_mistake(course):
    (course / "04_heads" / "heads.py").write_text(WRONG, "utf-8")
    assert "known mistake" in run("check", "transpose_qkv", cwd=course).stdout
    first = run("hint", "transpose_qkv", cwd=course).stdout
    second = run("hint", "transpose_qkv", cwd=course).stdout
    assert "About your last answer: " in first
    assert "grader explain" not in first
    assert "Read more about it: grader explain heads-cut-straight" in second


def test_lines_break_between_words_in_a_narrow_terminal(course):
    wide = run("hint", "transpose_qkv", cwd=course, COLUMNS="200").stdout
    narrow = run("hint", "transpose_qkv", "--again", cwd=course, COLUMNS="40").stdout
    assert narrow.split() == wide.split()
    # The line that counts the hints is not wrapped.
    hint = [line for line in narrow.splitlines() if not line.startswith("Hint ")]
    assert max(map(len, hint)) <= 40


def test_a_hint_is_shown_even_if_its_number_cannot_be_saved(course):
    (course / ".headway").write_text("in the way", "utf-8")
    done = run("hint", "transpose_qkv", cwd=course)
    assert "1. " in done.stdout
    assert "The next call shows the same hint again" in done.stderr
    assert done.returncode == 0

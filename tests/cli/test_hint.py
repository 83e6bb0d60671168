"""`grader hint`: one more hint per call, and a question about the last wrong answer."""

from helpers.command_line import WRONG, run


def test_each_call_shows_the_next_hint_alone_and_again_shows_all(course):
    first, second, third = (run("hint", "transpose_qkv", cwd=course).stdout for _n in range(3))
    assert "There is 1 more hint." in first
    assert first.splitlines()[0] not in second
    assert "That was the last hint." in second
    assert third == second
    both = run("hint", "transpose_qkv", "--again", cwd=course).stdout
    assert first.splitlines()[0] in both
    assert second.splitlines()[0] in both


def test_a_question_about_the_last_answer_comes_first_also_after_other_hints(course):
    run("hint", "transpose_qkv", cwd=course)
    (course / "04_heads" / "heads.py").write_text(WRONG, "utf-8")
    assert "known mistake" in run("check", "transpose_qkv", cwd=course).stdout
    asked = run("hint", "transpose_qkv", cwd=course).stdout
    assert asked.startswith("About your last answer: ")
    last = run("hint", "transpose_qkv", cwd=course).stdout
    assert "About your last answer: " not in last
    assert "A page about your mistake:\n  grader explain heads-cut-straight" in last


def test_lines_break_between_words_in_a_narrow_terminal(course):
    wide = run("hint", "transpose_qkv", cwd=course, COLUMNS="200").stdout
    narrow = run("hint", "transpose_qkv", "--again", cwd=course, COLUMNS="40").stdout
    assert narrow.split() == wide.split()
    assert max(map(len, narrow.splitlines())) <= 40


def test_a_hint_is_shown_even_if_its_number_cannot_be_saved(course):
    (course / ".headway").write_text("in the way", "utf-8")
    done = run("hint", "transpose_qkv", cwd=course)
    assert "look for the 5" in done.stdout
    assert "The next call shows the same hint again" in done.stderr
    assert done.returncode == 0

"""The list moves its cursor over the filtered rows, and shows the rows around it."""

import pytest

from grader.student.exercise_list import BACK, ENTER, ExerciseList, Row

ROWS = [Row("01_a", f"e{n}", "passed" if n % 3 == 0 else "failed", 1.0, 2.0) for n in range(10)]


def names(shown):
    return [row.name for row in shown.shown]


def test_the_cursor_stops_at_both_ends():
    shown = ExerciseList(ROWS)
    assert shown.current == "e0"
    shown.press("k")
    assert shown.current == "e0"
    for _ in range(20):
        shown.press("j")
    assert shown.current == "e9"


def test_filters_let_through_what_they_say_and_the_current_one():
    shown = ExerciseList(ROWS, "e3")
    shown.press("f")
    assert names(shown) == ["e1", "e2", "e3", "e4", "e5", "e7", "e8"]
    shown.press("j")
    assert shown.current == "e4"
    assert "e3" not in names(shown)
    shown.press("f")
    assert names(shown) == ["e0", "e3", "e4", "e6", "e9"]
    shown.press("f")
    assert len(names(shown)) == 10


@pytest.mark.parametrize(
    ("keys", "name"),
    [
        (["\x1b[B"], "e1"),
        (["j", "\x1bOA"], "e0"),
        (["x", "j"], "e1"),
        (["\x1b", "x", "j"], "e1"),
    ],
)
def test_an_arrow_is_one_key(keys, name):
    shown = ExerciseList(ROWS)
    for key in keys:
        assert shown.press(key) == ""
    assert shown.current == name


@pytest.mark.parametrize(("key", "done"), [("\r", ENTER), ("\n", ENTER), ("l", BACK)])
def test_leaving_says_how(key, done):
    assert ExerciseList(ROWS).press(key) == done


@pytest.mark.parametrize("at", range(10))
def test_the_part_that_fits_shows_the_current_exercise(at):
    shown = ExerciseList(ROWS, f"e{at}")
    part = [row.name for row in shown.part(4)]
    assert len(part) == 4
    assert f"e{at}" in part
    assert len(shown.part(50)) == 10


def test_an_unknown_exercise_becomes_the_first():
    assert ExerciseList(ROWS, "gone").current == "e0"

"""The list of exercises in `grader watch` moves its cursor over the filtered rows, and shows the rows around it."""

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


def test_filters_show_matching_exercises_and_the_current_exercise():
    shown = ExerciseList(ROWS, "e3")
    # f: the exercises that did not pass, then those that passed, then all
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
def test_an_arrow_moves_the_cursor_and_unknown_keys_do_nothing(keys, name):
    shown = ExerciseList(ROWS)
    for key in keys:
        assert shown.press(key) == ""
    assert shown.current == name


@pytest.mark.parametrize(("key", "done"), [("\r", ENTER), ("\n", ENTER), ("l", BACK)])
def test_enter_and_l_leave_the_list_in_different_ways(key, done):
    assert ExerciseList(ROWS).press(key) == done


@pytest.mark.parametrize("at", range(10))
def test_the_part_that_fits_contains_the_current_exercise(at):
    shown = ExerciseList(ROWS, f"e{at}")
    part = [row.name for row in shown.part(4)]
    assert len(part) == 4
    assert f"e{at}" in part
    assert len(shown.part(50)) == 10


def test_the_cursor_starts_at_the_first_row_for_an_unknown_exercise():
    assert ExerciseList(ROWS, "gone").current == "e0"

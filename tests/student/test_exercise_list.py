"""The list of exercises in `grader watch` moves its cursor over the filtered rows, and shows the rows around it."""

import pytest

from grader.student.exercise_list import BACK, ENTER, ExerciseList, Row

ROWS = [Row("01_a", f"e{n}", "passed" if n % 3 == 0 else "failed", 1.0, 2.0) for n in range(10)]


def names(shown):
    return [row.name for row in shown.shown]


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
        ([], "e0"),
        (["k"], "e0"),  # the cursor stops at both ends
        (["j"] * 20, "e9"),
        (["\x1b[B"], "e1"),  # an arrow
        (["j", "\x1bOA"], "e0"),
        (["\x1b", "x", "j"], "e1"),  # other keys do nothing
    ],
)
def test_keys_and_arrows_move_the_cursor(keys, name):
    shown = ExerciseList(ROWS, "gone")  # an unknown exercise: it starts at the first row
    assert [shown.press(key) for key in keys] == [""] * len(keys)
    assert shown.current == name


@pytest.mark.parametrize(("key", "done"), [("\r", ENTER), ("\n", ENTER), ("l", BACK)])
def test_enter_and_l_leave_the_list_in_different_ways(key, done):
    assert ExerciseList(ROWS).press(key) == done


def test_the_part_that_fits_contains_the_current_exercise():
    for row in ROWS:
        part = ExerciseList(ROWS, row.name).part(4)
        assert len(part) == 4
        assert row in part
    assert ExerciseList(ROWS).part(50) == ROWS

"""The list of exercises moves its cursor over the rows, and shows the rows around it below their headings."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from grader.student.exercise_list import BACK, ENTER, ExerciseList, Row

ROWS = [Row(f"{n // 5} a", Path("a.py"), SimpleNamespace(name=f"e{n}"), "failed", 1.0) for n in range(10)]


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
    shown = ExerciseList(ROWS, "e0")
    assert [shown.press(key) for key in keys] == [""] * len(keys)
    assert shown.current == name


@pytest.mark.parametrize(("key", "done"), [("\r", ENTER), ("\n", ENTER), ("l", BACK)])
def test_enter_and_l_leave_the_list_in_different_ways(key, done):
    assert ExerciseList(ROWS, "e0").press(key) == done


def test_the_part_that_fits_contains_the_current_exercise_below_its_heading():
    for row in ROWS:
        part = ExerciseList(ROWS, row.name).part(4)
        assert 3 <= len(part) <= 4
        assert (row.heading, row) in part
        assert part[0] == (part[1][0], None)
    everything = ExerciseList(ROWS, "e0").part(50)
    assert [row for _heading, row in everything if row] == ROWS
    assert [heading for heading, row in everything if row is None] == ["0 a", "1 a"]

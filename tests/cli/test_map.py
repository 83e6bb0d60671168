"""`grader` without a command: the list of exercises, and what is next."""

from __future__ import annotations

from helpers.command_line import RIGHT, run


def test_the_list_shows_outcomes_and_what_is_next(course):
    assert "Next: " in run(cwd=course).stdout
    (course / "04_heads" / "heads.py").write_text(RIGHT, "utf-8")
    assert run("check", "transpose_qkv", cwd=course).returncode == 0
    line = next(line for line in run(cwd=course).stdout.splitlines() if "transpose_qkv" in line)
    assert "passed" in line
    assert "3 / 3" in line

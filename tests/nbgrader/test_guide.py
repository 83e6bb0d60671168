"""docs/instructor.md: its commands work unchanged and do what the text says.

The commands in `ELSEWHERE` (helpers/guide.py) are not run.
"""

from __future__ import annotations

import csv
import subprocess

import pytest
from helpers.guide import ASSIGNMENT, CLASS, ELSEWHERE, GUIDE, ROOT, commands, pictures

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

MAX_PICTURE = 150_000  # bytes


def test_every_command_is_run_or_listed_in_elsewhere(guide):
    assert [line for line in dict.fromkeys(commands()) if line not in ELSEWHERE] == list(
        guide.said
    )  # said: command → what it printed
    assert set(ELSEWHERE) <= set(commands())


def test_make_has_a_target_install():
    done = subprocess.run(["make", "-n", "install"], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_doctor_lists_the_sandboxes_last(guide):
    lines = [line for line in guide.said["grader doctor"].splitlines() if line.strip()]
    assert [line.split()[:2] for line in lines[-3:]] == [
        ["sandbox", "strict"],
        ["sandbox", "landlock"],
        ["sandbox", "basic"],
    ]


def test_the_export_has_a_grade_and_a_name_for_each_student(guide):
    with (guide.course / "grades.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    assert set(rows) == set(CLASS)
    assert (rows["ada"]["first_name"], float(rows["ada"]["score"])) == ("Ada", 8.0)
    assert all(float(row["score"]) < 8 for who, row in rows.items() if who != "ada")


@pytest.mark.parametrize("student", CLASS)
def test_feedback_is_where_the_guide_says(guide, student):
    assert (guide.course / "feedback" / student / ASSIGNMENT / f"{ASSIGNMENT}.html").is_file()


def test_the_class_report_is_where_the_guide_says(guide):
    text = (guide.checkout / "class.html").read_text("utf-8")
    assert "softmax-masked-too-late" in text


def test_the_pictures_of_the_guide_exist_and_are_small():
    found = list(pictures())
    assert len(found) >= 4
    for path in found:
        assert path.is_relative_to(GUIDE.parent)
        assert 1000 < path.stat().st_size <= MAX_PICTURE, path

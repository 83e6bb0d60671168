"""docs/instructor.md: its commands work unchanged and do what the text says.

The commands in `ELSEWHERE` (helpers/guide.py) are not run.
"""

import csv
import re

import pytest
from helpers.command_line import ROOT, process
from helpers.guide import ABSENT, ASSIGNMENT, CLASS, ELSEWHERE, GUIDE, Walk, commands

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

MAX_PICTURE = 150_000  # bytes
TENTH = ("dee", "hal", "zoe")  # their values are a tenth too small
INTEGERS = "ian"  # is wrong for integers alone


def said(guide: Walk, command: str) -> list[str]:
    """Return the output of each line that starts with a command, joined to one line."""
    return [" ".join(text.split()) for line, text in guide.said if line.startswith(command)]


def feedback(guide: Walk, student: str) -> str:
    return (guide.course / "feedback" / student / ASSIGNMENT / f"{ASSIGNMENT}.html").read_text("utf-8")


def test_every_command_is_run_or_listed_in_elsewhere(guide):
    assert [line for line in commands(GUIDE) if line not in ELSEWHERE] == [line for line, _said in guide.said]
    assert set(ELSEWHERE) <= set(commands(GUIDE))


def test_make_has_a_target_install():
    done = process("make", "-n", "install", cwd=ROOT)
    assert done.returncode == 0, done.stderr


def test_the_export_has_a_grade_and_a_name_for_each_student(guide):
    with (guide.course / "grades.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    assert set(rows) == {*CLASS, ABSENT}
    assert (rows["ada"]["first_name"], float(rows["ada"]["score"])) == ("Ada", 8.0)
    assert all(float(row["score"]) < 8 for who, row in rows.items() if who != "ada")


def test_the_class_page_has_mistakes_sections_and_who_is_missing(guide):
    text = (guide.checkout / "class.html").read_text("utf-8")
    assert "softmax-masked-too-late" in text
    assert f"{len(CLASS)} submissions" in text
    assert re.search(rf"{ABSENT}</th><td>nothing was submitted", text)
    assert "names to copy" in text
    assert "B: bob" in text


def test_a_changed_case_changes_only_the_points_of_wrong_integers(guide):
    first, second = said(guide, "grader regrade")
    assert [student for student in CLASS if f"{student} sequence_mask" in first] == [INTEGERS]
    assert "input of integers (tokens): passed, was failed" in first
    assert "0 fewer" in first
    assert "nothing was published" in first
    assert "published in" in second


def test_the_group_is_named_on_the_next_run(guide):
    before, after = said(guide, f"grader grade ~/attention-2027/submitted --only {ASSIGNMENT}")[2:4]
    assert "3 submissions share this in sequence_mask" in before
    assert "tenth-too-small" not in before
    assert "3 tenth-too-small sequence_mask" in after
    assert "share this in sequence_mask" not in after
    assert "right answers pass and are not in it" in said(guide, "grader adopt")[0]


def test_feedback_has_the_comment_and_the_reason(guide):
    for student in CLASS:
        text = feedback(guide, student)
        assert ("We discuss this on Tuesday." in text) == (student in TENTH), student
        assert ("every kept value is a tenth too small" in text) == (student in TENTH), student
        assert ("was graded again" in text) == (student == INTEGERS), student


def test_the_marks_are_exported_and_the_shared_page_has_no_names(guide):
    with (guide.checkout / "canvas.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["SIS Login ID"]: row[ASSIGNMENT] for row in csv.DictReader(file)}
    assert [rows["ada"], rows[INTEGERS]] == ["8", "8"]
    assert rows[ABSENT] == "", "an import leaves what Canvas has"
    shared = (guide.checkout / "shared.html").read_text("utf-8")
    assert not [student for student in CLASS if re.search(rf"\b{student}\b", shared)]


def test_a_purge_prints_what_it_removed_and_what_it_left(guide):
    (text,) = said(guide, "grader purge")
    assert "results of 1 files" in text
    assert "not removed, since it is not the grader's" in text
    assert "submitted/zoe" in text
    assert "nbgrader db student remove zoe --force" in text


def test_the_pictures_of_the_guide_exist_and_are_small():
    found = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", GUIDE.read_text("utf-8"))
    assert len(found) >= 4
    assert all(1000 < (GUIDE.parent / place).stat().st_size <= MAX_PICTURE for place in found)

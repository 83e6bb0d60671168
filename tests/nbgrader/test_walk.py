"""A class of right, wrong, odd and hostile submissions in the real `nbgrader autograde`: marks, comments, pages."""

import csv
import json
import shutil
import sys

import pytest
from helpers.nbgrader_class.school import ASSIGNMENT, BIN, answered, cell
from helpers.nbgrader_class.students import CLASS, CUT, FULL, HOSTILE, NAME, VALUES_WRONG
from helpers.nbgrader_class.walk import AGAIN, EXERCISES, SECONDS_LATE, Walk, gradebook

from grader.bundle.files import MANIFEST_FILE

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.skipif(sys.platform != "linux", reason="makes links and pipes"),
    pytest.mark.timeout(900),
]

LINKS = {"l-file": f"{NAME} (a link)", "l-folder": "no folder", "l-student": "no folder"}


def test_no_submission_is_discarded(walk: Walk):
    assert "Removing failed" not in walk.log
    assert {student for student, _exercise in walk.marks} == {*CLASS, *HOSTILE, *LINKS}


@pytest.mark.parametrize("student", CLASS)
def test_each_student_gets_the_expected_marks_the_reason_and_a_page(walk: Walk, student: str):
    expected = CLASS[student]
    qkv, output = (walk.marks[student, exercise] for exercise in EXERCISES)
    assert (qkv.auto, output.auto) == (expected.qkv, expected.output), qkv.comment
    assert [qkv.needs_manual_grade, output.needs_manual_grade] == [qkv.auto is None, output.auto is None]
    assert (expected.comment or "") in (qkv.comment or "")
    assert (qkv.comment is None) == (expected.comment is None)
    assert expected.log in walk.log
    scores = {e["name"]: e["score"] for record in walk.records[student] for e in record["exercises"]}
    for exercise, mark in zip(EXERCISES, (qkv, output), strict=True):
        assert scores.get(exercise, mark.auto and 0) == mark.auto, "`grader grade` gives the same marks"
    page = walk.school.feedback(student)
    assert page.count('class="headway"') == 2
    assert "hidden cases" in page
    assert expected.page in page
    assert "<script>alert(1)" not in page


@pytest.mark.parametrize("student", ["f-docx", "f-empty"])
def test_what_holds_nothing_to_grade_has_the_remark_of_grader_grade(walk: Walk, student: str):
    (record,) = walk.records[student]
    assert record["exercises"] == []
    assert record["remarks"][0] in (walk.marks[student, "transpose_output"].comment or "")


def test_the_exported_table_has_the_sums_and_lateness_is_kept(walk: Walk):
    with (walk.course / "grades.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    for student, expected in CLASS.items():
        if student != AGAIN:
            assert float(rows[student]["score"]) == pytest.approx(
                (expected.qkv or 0) + (expected.output or 0)
            )
    with gradebook(walk.school) as book:
        assert book.find_submission(ASSIGNMENT, "z-right").total_seconds_late == SECONDS_LATE


@pytest.mark.parametrize("student", HOSTILE)
def test_a_hostile_notebook_gets_no_full_marks_and_no_excuse(walk: Walk, student: str):
    found = walk.marks[student, "transpose_qkv"]
    assert found.auto <= FULL / 2
    assert not found.needs_manual_grade
    assert found.comment


@pytest.mark.parametrize("student", LINKS)
def test_a_symbolic_link_is_no_submission(walk: Walk, student: str):
    found = walk.marks[student, "transpose_qkv"]
    assert (found.auto, found.needs_manual_grade) == (None, True)
    assert LINKS[student] in (found.comment or "")
    copied = walk.course / "autograded" / student / ASSIGNMENT
    assert not (copied / "notes.txt").exists(), "nbgrader copies no file that a link leads to"


def test_files_that_nbgrader_cannot_copy_are_set_aside(walk: Walk):
    aside = walk.course / ".headway" / "set_aside" / "submitted" / "a-right" / ASSIGNMENT
    names = {"dangling", "secret.txt", "pipe", "timestamp.txt", MANIFEST_FILE}
    assert {path.name for path in aside.iterdir()} == names
    assert "timestamp.txt holds no time that nbgrader can read, and was moved to" in walk.log
    assert all(f"{name} cannot be copied and was moved to" in walk.log for name in names - {"timestamp.txt"})
    graded = walk.course / "autograded" / "a-right" / ASSIGNMENT
    assert (graded / "notes.txt").read_text("utf-8") == "mine"
    assert not (graded / "secret.txt").exists()


def test_hostile_submissions_deleted_no_file_of_the_course(walk: Walk):
    assert (walk.course / "source" / ASSIGNMENT / NAME).is_file()
    named = [student for student, made in CLASS.items() if NAME in made.files(walk.school.released())]
    assert all((walk.course / "submitted" / student / ASSIGNMENT / NAME).is_file() for student in named)


def test_changed_checks_are_restored(walk: Walk):
    check = cell(walk.school.autograded("c-tampered"), "check-transpose_output")
    assert "".join(check["source"]) == 'check("transpose_output")'


def test_the_basic_tier_is_refused_unless_submissions_are_trusted(walk: Walk):
    refused, trusted = walk.refused[AGAIN, "transpose_output"], walk.trusted[AGAIN, "transpose_output"]
    assert (refused.auto, refused.needs_manual_grade) == (None, True)
    assert "trusted_submissions" in (refused.comment or "")
    assert "No points are deducted." in (refused.comment or "")
    assert (trusted.auto, trusted.needs_manual_grade) == (FULL, False)


def test_what_an_instructor_typed_stays_after_a_regrade(walk: Walk):
    mark = walk.trusted[AGAIN, "transpose_qkv"]
    assert (mark.auto, mark.manual, mark.manual_comment) == (VALUES_WRONG, 2.5, "seen")
    assert mark.needs_manual_grade, "nbgrader asks for another look at a regraded exercise with a typed score"


def test_the_seed_is_private_and_outside_the_course(walk: Walk):
    assert walk.school.seed.stat().st_mode & 0o777 == 0o600
    assert str(walk.school.seed) in (walk.course / "headway_config.py").read_text("utf-8")


def test_making_the_course_again_changes_nothing(walk: Walk):
    before = (walk.course / "gradebook.db").read_bytes()
    again = (BIN / "grader", "course", "course", "--course", walk.school.root)
    assert "nothing changed" in walk.school.run(*again, cwd=walk.school.root)
    assert (walk.course / "gradebook.db").read_bytes() == before


def test_nbgrader_validate_names_only_the_wrong_exercise(made, tmp_path):
    """Run it as a student does: with a kernel and public cases."""
    shutil.copytree(made.course / "release" / ASSIGNMENT, tmp_path, dirs_exist_ok=True)
    (tmp_path / NAME).write_text(json.dumps(answered(made.released(), CUT)), "utf-8")
    output = made.run(BIN / "nbgrader", "validate", tmp_path / NAME, cwd=tmp_path)
    assert "VALIDATION FAILED ON 1 CELL(S)" in output
    assert 'check("transpose_qkv")' in output
    assert 'check("transpose_output")' not in output

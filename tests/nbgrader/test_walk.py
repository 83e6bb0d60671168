"""A class through nbgrader's exchange: scores, comments, the late penalty, feedback pages and the export."""

from __future__ import annotations

import csv

import pytest
from helpers.nbgrader_class.school import ASSIGNMENT
from helpers.nbgrader_class.students import ABSENT, CLASS, FULL, GRADIENT_WRONG, LATE, TWICE, Student
from helpers.nbgrader_class.walks import Mark, Nbgrader, marks

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.timeout(900),
]


@pytest.fixture(scope="module")
def found(walk: Nbgrader) -> dict[tuple[str, str], Mark]:
    return marks(walk)


def test_the_class_has_many_right_and_wrong_answers():
    kinds = [student.split("-")[0] for student in CLASS]
    assert len(CLASS) >= 50
    assert kinds.count("w") >= 20
    assert kinds.count("r") >= 5


@pytest.mark.parametrize(("student", "expected"), CLASS.items(), ids=CLASS)
def test_each_student_gets_the_expected_points_and_comment(found, student: str, expected: Student):
    qkv, output = found[student, "transpose_qkv"], found[student, "transpose_output"]
    assert (qkv.auto, output.auto) == (expected.qkv, expected.output), qkv.comment
    assert not qkv.needs_manual_grade and not output.needs_manual_grade
    if expected.comment is None:
        assert qkv.comment is None
    else:
        assert expected.comment in (qkv.comment or "")


@pytest.mark.parametrize(("student", "expected"), CLASS.items(), ids=CLASS)
def test_each_student_has_a_page_with_points_and_reason(walk, student: str, expected: Student):
    page = (walk.folder / "feedback" / student / ASSIGNMENT / f"{ASSIGNMENT}.html").read_text("utf-8")
    assert page.count('class="headway"') == 2
    assert "hidden cases" in page
    assert expected.page in page
    assert f"{round(expected.qkv + expected.output, 2):g}" in page
    assert "<script>alert(1)" not in page


def test_a_second_submission_is_graded_and_replaces_the_first(found):
    assert found[TWICE, "transpose_qkv"] == Mark(
        auto=FULL, manual=None, needs_manual_grade=False, comment=None, manual_comment=None
    )


def test_a_late_submission_gets_the_penalty_of_nbgrader(walk, found):
    assert found[LATE, "transpose_qkv"].auto == GRADIENT_WRONG
    with walk.gradebook() as gradebook:
        late = gradebook.find_submission(ASSIGNMENT, LATE)
        assert 0 < late.total_seconds_late < 3600
        assert (late.late_submission_penalty, late.score) == (1.0, GRADIENT_WRONG + FULL)
        punctual = gradebook.find_submission(ASSIGNMENT, "r-reshape")
        assert (punctual.total_seconds_late, punctual.late_submission_penalty) == (0, 0)


def test_the_exported_table_has_the_sums_of_the_points(walk):
    with (walk.folder / "grades.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    assert set(rows) == {*CLASS, LATE, TWICE, ABSENT}
    for student, expected in CLASS.items():
        assert float(rows[student]["raw_score"]) == pytest.approx(expected.qkv + expected.output), student
        assert float(rows[student]["score"]) == pytest.approx(expected.qkv + expected.output), student
    assert float(rows[LATE]["score"]) == pytest.approx(float(rows[LATE]["raw_score"]) - 1)
    assert float(rows[TWICE]["score"]) == 2 * FULL
    assert (rows[ABSENT]["timestamp"], float(rows[ABSENT]["score"])) == ("", 0.0)


@pytest.mark.parametrize("student", [LATE, "w-cut"])
def test_students_fetch_their_own_page(walk, student):
    pages = list((walk.home(student) / ASSIGNMENT / "feedback").rglob("*.html"))
    made = walk.folder / "feedback" / student / ASSIGNMENT / f"{ASSIGNMENT}.html"
    assert [page.read_bytes() for page in pages] == [made.read_bytes()]


def test_hostile_submissions_deleted_no_file_of_the_course(walk):
    assert (walk.folder / "source" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").is_file()
    submitted = list((walk.folder / "submitted").glob(f"*/{ASSIGNMENT}/{ASSIGNMENT}.ipynb"))
    assert len(submitted) == len(CLASS) + 2  # and those of LATE and TWICE

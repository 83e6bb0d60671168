"""A class through `nbgrader autograde` and `generate_feedback`: scores, comments and pages."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import numpy as np
import pytest
from helpers.nbgrader_class.school import ASSIGNMENT, BIN, CLASS, cell

from grader.bundle.files import load_all

FULL = 3.0


def grades(school) -> dict[tuple[str, str], tuple]:
    """Return (student, cell) → auto_score, manual_score, needs_manual_grade from nbgrader's database."""
    query = """
        SELECT submitted_assignment.student_id, base_cell.name, grade.auto_score, grade.manual_score, grade.needs_manual_grade
        FROM grade JOIN base_cell ON grade.cell_id = base_cell.id
        JOIN submitted_notebook ON grade.notebook_id = submitted_notebook.id
        JOIN submitted_assignment ON submitted_notebook.assignment_id = submitted_assignment.id
    """
    with closing(sqlite3.connect(school.course / "gradebook.db")) as database, database:
        return {(student, name): tuple(rest) for student, name, *rest in database.execute(query)}


def comments(school) -> dict[tuple[str, str], str | None]:
    """Return (student, cell) → automatic comment from nbgrader's database."""
    query = """
        SELECT submitted_assignment.student_id, base_cell.name, comment.auto_comment
        FROM comment JOIN base_cell ON comment.cell_id = base_cell.id
        JOIN submitted_notebook ON comment.notebook_id = submitted_notebook.id
        JOIN submitted_assignment ON submitted_notebook.assignment_id = submitted_assignment.id
    """
    with closing(sqlite3.connect(school.course / "gradebook.db")) as database, database:
        return {(student, name): text for student, name, text in database.execute(query)}


SCORES = {  # of transpose_qkv and transpose_output
    "ada": (FULL, FULL),
    "dee": (0, FULL),
    "eve": (0, FULL),
    "fay": (0, 0),
    "gus": (0, 0),  # the lesson's demo calls a function that ends the process, so the file never loads
    "hal": (FULL, FULL),
    "ivy": (0, 0),
    "kim": (0, 0),
}


@pytest.mark.parametrize("student", SCORES)
def test_each_student_gets_the_expected_scores(school, student):
    of_class = grades(school)
    of_student = [of_class[student, f"check-{name}"] for name in ("transpose_qkv", "transpose_output")]
    assert tuple(auto for auto, _manual, _needs in of_student) == SCORES[student]
    assert not any(needs for _auto, _manual, needs in of_student)


@pytest.mark.parametrize("student", ["bob", "cyd"])
def test_a_wrong_answer_gets_partial_credit(school, student):
    auto, manual, needs = grades(school)[student, "check-transpose_qkv"]
    assert 0 < auto < FULL / 2
    assert (manual, needs) == (None, 0)


def test_changed_points_and_changed_checks_are_restored(school):
    found = grades(school)
    assert found["jon", "check-transpose_output"][0] == FULL
    assert found["jon", "check-transpose_qkv"][0] <= FULL
    check = cell(school.autograded("jon"), "check-transpose_output")
    assert "".join(check["source"]) == 'check("transpose_output")'


@pytest.mark.parametrize(
    ("student", "says"),
    [
        ("bob", "known mistake"),
        ("cyd", "All values are the same multiple of the expected values"),
        ("dee", "blocked"),
        ("eve", "ValueError"),
        ("fay", "No response."),
        ("gus", "the worker process ended twice"),
        ("ivy", "is not a notebook"),
        ("jim", "failed"),
        ("kim", "not defined"),
    ],
)
def test_comments_give_the_reason(school, student, says):
    assert says in (comments(school)[student, "transpose_qkv"] or "")


def test_questions_worth_nothing_need_no_manual_grading(school):
    assert [
        about for about, (_auto, manual, needs) in grades(school).items() if needs and manual is None
    ] == []


def test_right_answers_have_no_comment(school):
    found = comments(school)
    assert [found[student, "transpose_qkv"] for student in ("ada", "hal")] == [None, None]


@pytest.mark.parametrize("student", CLASS)
def test_feedback_shows_the_report(school, student):
    page = school.feedback(student)
    assert 'class="headway"' in page
    assert "transpose_qkv" in page
    assert "hidden cases" in page


def test_feedback_names_missing_and_repeated_cells(school):
    assert "The cell check-transpose_qkv was missing and was put back." in school.feedback("hal")
    assert "The cell transpose_qkv is there more than once" in school.feedback("jon")
    assert "not defined in 04_heads.ipynb" in school.feedback("kim")


def test_no_file_shows_the_seed_or_values_of_hidden_cases(school):
    """Search the files that students and graders see, and the sources."""
    bundles = load_all(next((school.root / "cache" / "headway" / "hidden").iterdir()))
    secrets = {(school.root / "home" / ".config" / "headway" / "seed").read_text("utf-8").strip()}
    cases = [case for bundle in bundles for exercise in bundle.exercises for case in exercise.cases]
    for case in cases:
        for array in (*case.tensors.values(), *case.expected.values()):
            if array.dtype.kind == "f":  # the first seven characters, such as 0.12345
                secrets |= {f"{number:.7f}"[:7] for number in np.abs(array.ravel()[:50]) if 0.1 < number < 9}
    assert len(secrets) > 300
    for folder in ("release", "autograded", "feedback", "source"):
        for path in (school.course / folder).rglob("*"):
            if path.suffix in (".ipynb", ".html", ".json", ".py"):
                text = path.read_text("utf-8")
                found = {secret for secret in secrets if secret in text}
                by_chance = 1 if folder == "feedback" else 0  # a page has many numbers, and one may be equal
                assert len(found) <= by_chance, (path, found)


def test_the_message_of_an_exception_is_escaped_in_feedback(school):
    assert "<script>alert(1)" not in school.feedback("eve")


def test_the_seed_is_private_and_outside_the_course(school):
    seed = school.root / "home" / ".config" / "headway" / "seed"
    assert seed.stat().st_mode & 0o777 == 0o600
    assert str(seed) in (school.course / "headway_config.py").read_text("utf-8")


def test_export_has_the_sums(school):
    school.run(BIN / "nbgrader", "export")
    lines = (school.course / "grades.csv").read_text("utf-8").splitlines()
    rows = [dict(zip(lines[0].split(","), line.split(","), strict=True)) for line in lines[1:]]
    assert {r["student_id"] for r in rows} == set(CLASS)
    assert all(float(r["max_score"]) == 2 * FULL for r in rows)
    assert float(next(r for r in rows if r["student_id"] == "ada")["score"]) == 2 * FULL


@pytest.mark.slow
def test_making_the_course_again_changes_nothing(school):
    before = (school.course / "gradebook.db").read_bytes()
    assert "nothing changed" in school.run(BIN / "grader", "course", "course", cwd=school.root)
    assert (school.course / "gradebook.db").read_bytes() == before
    assert (school.course / "submitted" / "ada" / ASSIGNMENT).is_dir()

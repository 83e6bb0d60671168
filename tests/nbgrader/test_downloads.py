"""The class from a folder of downloads: `nbgrader autograde` uses the results that `grader grade` stored.

At first nbgrader cannot start a worker, so a mark can only come from the store. A teacher then grades two students by hand. Once nbgrader can start workers, it grades the rest, and the teacher's marks
stay.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from helpers.nbgrader_class.school import ASSIGNMENT, BIN, School
from helpers.nbgrader_class.students import CLASS, FULL, Student
from helpers.nbgrader_class.walks import NO_WORKER, Mark, by_downloads, marks

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.timeout(900),
]

BY_HAND = {"c-renamed": 1.5, "w-cut": 2.5}  # student → points that a teacher gives while no worker can start
Marks = dict[tuple[str, str], Mark]


@dataclass
class Steps:
    """The gradebook after each step."""

    alone: Marks  # no worker, no store; only of the students r-re*
    stored: Marks  # no worker, after `grader grade`
    forced: Marks  # with workers again; `autograde --force`
    records: dict[str, dict]  # of `grader grade`


@pytest.fixture(scope="module")
def steps(made: School) -> Iterator[Steps]:
    nbgrader = by_downloads(made)
    config = nbgrader.folder / "nbgrader_config.py"
    with_workers = config.read_text("utf-8")
    nbgrader.configure(NO_WORKER)
    nbgrader("autograde", ASSIGNMENT, "--student=r-re*")
    alone = marks(nbgrader)
    output = made.run(
        BIN / "grader", "grade", "zipped/submitted", "--format", "jsonl", cwd=made.root, status=1
    )
    records = {record["student"]: record for record in _records(output)}
    nbgrader("autograde", ASSIGNMENT, "--force")
    stored = marks(nbgrader)
    with nbgrader.gradebook() as gradebook:
        for student, points in BY_HAND.items():
            about = ASSIGNMENT, ASSIGNMENT, student
            gradebook.find_grade("check-transpose_qkv", *about).manual_score = points
            gradebook.find_comment("transpose_qkv", *about).manual_comment = f"seen, {student}"
        gradebook.db.commit()
    config.write_text(with_workers, "utf-8")
    nbgrader("autograde", ASSIGNMENT, "--force")
    yield Steps(alone, stored, marks(nbgrader), records)
    nbgrader.close()


def _records(output: str) -> list[dict]:
    """Return the records; the other lines show progress."""
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def test_without_worker_and_store_everything_needs_a_person(steps):
    assert {student for student, _exercise in steps.alone} == {s for s in CLASS if s.startswith("r-re")}
    for mark in steps.alone.values():
        assert (mark.auto, mark.needs_manual_grade) == (None, True)
        assert "no worker can be started" in (mark.comment or "")
        assert "No points are deducted." in (mark.comment or "")


@pytest.mark.parametrize("student", CLASS)
def test_marks_come_from_the_store_if_no_worker_starts(steps, student):
    expected, record = CLASS[student], steps.records[student]
    for exercise, points in (("transpose_qkv", expected.qkv), ("transpose_output", expected.output)):
        mark = steps.stored[student, exercise]
        assert (mark.auto, mark.needs_manual_grade) == (points, False), mark.comment
        result = next((e for e in record["exercises"] if e["name"] == exercise), None)
        assert result is None or result["score"] == points


@pytest.mark.parametrize(("student", "expected"), CLASS.items(), ids=CLASS)
def test_with_workers_again_all_marks_are_as_expected(steps, student: str, expected: Student):
    qkv, output = steps.forced[student, "transpose_qkv"], steps.forced[student, "transpose_output"]
    assert (qkv.auto, output.auto) == (expected.qkv, expected.output)
    assert not output.needs_manual_grade
    assert expected.comment is None or expected.comment in (qkv.comment or "")


@pytest.mark.parametrize(("student", "points"), BY_HAND.items())
def test_what_a_teacher_wrote_stays_after_another_autograde(steps, student, points):
    mark = steps.forced[student, "transpose_qkv"]
    assert (mark.manual, mark.manual_comment) == (points, f"seen, {student}")
    assert mark.auto == CLASS[student].qkv
    assert mark.needs_manual_grade, (
        "nbgrader asks for another look if it grades an exercise that has a manual score"
    )


def test_only_manually_graded_students_wait_for_a_teacher(steps):
    waiting = {student for (student, _exercise), mark in steps.forced.items() if mark.needs_manual_grade}
    assert waiting == set(BY_HAND)


def test_a_right_answer_has_full_marks_from_a_store_as_well(steps):
    assert steps.stored["r-reshape", "transpose_qkv"] == Mark(FULL, None, False, None, None)

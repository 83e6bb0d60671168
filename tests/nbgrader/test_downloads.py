"""The same class from a folder of downloads: `grader grade` first, then `nbgrader autograde` uses its results.

No worker can be started while the store is to answer, so a mark that is there came from the store. Then
workers can be started again: nothing was lost by their absence, and what a teacher wrote meanwhile is kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from helpers.nbgrader_class.school import ASSIGNMENT, BIN, School
from helpers.nbgrader_class.students import CLASS, FULL, Student
from helpers.nbgrader_class.walks import NO_WORKER, Mark, by_downloads, marks

pytestmark = [pytest.mark.filterwarnings("ignore::DeprecationWarning"), pytest.mark.timeout(900)]

REPAIRED = [student for student, expected in CLASS.items() if expected.repaired]
TAUGHT = "c-renamed"  # a teacher grades this student by hand while no worker can start
Marks = dict[tuple[str, str], Mark]


@dataclass
class Steps:
    """The gradebook after each step."""

    alone: Marks  # no worker, no store
    stored: Marks  # no worker, after `grader grade`
    forced: Marks  # with workers again; `autograde --force`
    records: dict[str, dict]  # of `grader grade`


@pytest.fixture(scope="module")
def steps(made: School) -> Iterator[Steps]:
    nbgrader = by_downloads(made)
    config = nbgrader.folder / "nbgrader_config.py"
    as_it_was = config.read_text("utf-8")
    nbgrader.configure(NO_WORKER)
    nbgrader("autograde", ASSIGNMENT, "--student=r-re*")
    alone = marks(nbgrader)
    said = made.run(BIN / "grader", "grade", "zipped/submitted", "--format", "jsonl", cwd=made.root, status=1)
    records = {record["student"]: record for record in _records(said)}
    nbgrader("autograde", ASSIGNMENT, "--force")
    stored = marks(nbgrader)
    with nbgrader.gradebook() as gradebook:
        for student, points in ((TAUGHT, 1.5), ("w-cut", 2.5)):
            about = ASSIGNMENT, ASSIGNMENT, student
            gradebook.find_grade("check-transpose_qkv", *about).manual_score = points
            gradebook.find_comment("transpose_qkv", *about).manual_comment = f"seen, {student}"
        gradebook.db.commit()
    config.write_text(as_it_was, "utf-8")
    nbgrader("autograde", ASSIGNMENT, "--force")
    yield Steps(alone, stored, marks(nbgrader), records)
    nbgrader.close()


def _records(said: str) -> list[dict]:
    """Return the records; the other lines show progress."""
    return [json.loads(line) for line in said.splitlines() if line.startswith("{")]


def test_without_worker_and_store_everything_needs_a_person(steps):
    assert {student for student, _exercise in steps.alone} == {s for s in CLASS if s.startswith("r-re")}
    for mark in steps.alone.values():
        assert (mark.auto, mark.needs) == (None, True)
        assert "no worker can be started" in (mark.comment or "")
        assert "No points are deducted." in (mark.comment or "")


@pytest.mark.parametrize("student", [s for s, expected in CLASS.items() if not expected.repaired])
def test_marks_come_from_the_store_if_no_worker_starts(steps, student):
    expected, record = CLASS[student], steps.records[student]
    for exercise, points in (("transpose_qkv", expected.qkv), ("transpose_output", expected.output)):
        mark = steps.stored[student, exercise]
        assert (mark.auto, mark.needs) == (points, False), mark.comment
        result = next((e for e in record["exercises"] if e["name"] == exercise), None)
        assert result is None or result["score"] == points


@pytest.mark.parametrize("student", REPAIRED)
def test_a_repaired_notebook_is_graded_as_repaired(steps, student):
    """The stored result belongs to another text and is not used: the notebook waits for a worker."""
    assert steps.stored[student, "transpose_output"].needs
    if student != TAUGHT:
        assert steps.forced[student, "transpose_output"].auto == CLASS[student].output
        assert steps.forced[student, "transpose_qkv"].auto == CLASS[student].qkv


@pytest.mark.parametrize(("student", "expected"), CLASS.items(), ids=CLASS)
def test_in_the_end_all_marks_are_those_of_the_exchange(steps, student: str, expected: Student):
    qkv, output = steps.forced[student, "transpose_qkv"], steps.forced[student, "transpose_output"]
    assert (qkv.auto, output.auto) == (expected.qkv, expected.output)
    assert not output.needs
    assert expected.comment is None or expected.comment in (qkv.comment or "")


@pytest.mark.parametrize(("student", "points"), [(TAUGHT, 1.5), ("w-cut", 2.5)])
def test_what_a_teacher_wrote_survives_another_autograde(steps, student, points):
    mark = steps.forced[student, "transpose_qkv"]
    assert (mark.manual, mark.manual_comment) == (points, f"seen, {student}")
    assert mark.auto == CLASS[student].qkv
    assert mark.needs, "nbgrader asks a person to look again where an override meets a new automatic score"


def test_only_manually_graded_students_wait_for_a_teacher(steps):
    waiting = {student for (student, _exercise), mark in steps.forced.items() if mark.needs}
    assert waiting == {TAUGHT, "w-cut"}


def test_a_right_answer_has_full_marks_from_a_store_as_well(steps):
    assert steps.stored["r-reshape", "transpose_qkv"] == Mark(FULL, None, False, None, None)

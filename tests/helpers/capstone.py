"""Submissions of the capstone, the last assignment, and the earlier files whose code it uses."""

from __future__ import annotations

from pathlib import Path

from grader.authoring.bank import apply
from grader.authoring.content import Assignment, read
from grader.engine.engine import Engine
from grader.engine.student_parts import Part
from grader.intake.read import Submission, Unit
from grader.report.model import ExerciseResult

ROOT = Path(__file__).resolve().parents[2]
CAPSTONE = "11_capstone"


def solution(name: str) -> Assignment:
    return read(ROOT / "solutions" / name)


def file(assignment: Assignment, source: str) -> Submission:
    name = f"{assignment.module}.py"
    return Submission(Path(name), (Unit(name, source),))


def part(name: str, mistake: str = "", kind: str = "mistakes") -> Part:
    """Return the file of an earlier assignment with all its exercises. All are right unless `mistake` is given.

    mistake: the id of a known answer to apply. kind: the method of `Assignment` that lists this answer.
    """
    assignment = solution(name)
    known = [a for a in getattr(assignment, kind)() if a.id == mistake]
    assert len(known) == (1 if mistake else 0), mistake
    source = apply(known, assignment.source)
    names = {e["name"]: e["name"] for e in assignment.exercises}  # exercise → its name in the file
    return Part(file(assignment, source), names)


def graded(engine: Engine, source: str, *parts: Part) -> ExerciseResult:
    submission = Submission(Path("capstone.py"), (Unit("capstone.py", source),))
    return engine.grade(submission, ["train"], parts).exercises[0]

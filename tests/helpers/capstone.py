"""Submissions of the capstone, the last assignment, and the earlier files whose code it uses."""

from grader.authoring.bank import apply
from grader.authoring.content import Assignment, read
from grader.engine.engine import Engine
from grader.engine.student_file import Part
from grader.report.model import ExerciseResult
from helpers.command_line import ROOT
from helpers.minimal import submission_of

CAPSTONE = "11_capstone"


def solution(name: str) -> Assignment:
    return read(ROOT / "solutions" / name)


def part(name: str, mistake: str = "", kind: str = "mistakes") -> Part:
    """Return the file of an earlier assignment with all its exercises. All are right unless `mistake` is given.

    mistake: the id of a known answer to apply. kind: the method of `Assignment` that lists this answer.
    """
    assignment = solution(name)
    known = [a for a in getattr(assignment, kind)() if a.id == mistake]
    assert len(known) == (1 if mistake else 0), mistake
    source = apply(known, assignment.source)
    names = {e.name: e.name for e in assignment.exercises}  # exercise → its name in the file
    return Part(submission_of(source, f"{assignment.module}.py"), names)


def graded(engine: Engine, source: str, *parts: Part) -> ExerciseResult:
    return engine.grade(submission_of(source, "capstone.py"), ["train"], parts).exercises[0]

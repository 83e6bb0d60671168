"""The lines of an answer that a report shows, and which of them are marked."""

from dataclasses import replace
from pathlib import Path

from grader.engine.grade_once import code
from grader.intake.names import read_names
from grader.intake.read import submission_from
from grader.report.model import Diagnosis, ExerciseResult


def test_the_line_of_a_slip_is_not_marked_for_a_known_mistake():
    source = "x = 1\ndef f():\n    return 2\n"
    submission = submission_from(Path("a.py"), source.encode())
    definition = read_names(submission).definitions["f"]
    bare = ExerciseResult("f", "a", "failed", 0.0, 1.0, remarks=("a.py, line 3: a slip",))
    known = replace(bare, diagnosis=Diagnosis("exact", (("m",),), "says"))
    assert code(bare, submission, definition).marked == (3,)
    assert code(known, submission, definition).marked == ()


def test_a_named_line_is_marked_unless_it_begins_the_definition():
    submission = submission_from(Path("a.py"), b"def f():\n    return 2\n")
    definition = read_names(submission).definitions["f"]
    result = ExerciseResult("f", "a", "failed", 0.0, 1.0, message="a.py, line 1: an exception")
    assert code(result, submission, definition).marked == ()
    assert code(result, submission, None).marked == (1,)

"""Each exercise of a right file passes alone: the other exercises of the file are imported from `grader.given` instead."""

import pytest
from helpers.command_line import ROOT
from helpers.minimal import submission_of

from grader.authoring.content import read_all
from grader.engine.load_request import with_requirements
from grader.support.code import definition_span

EXERCISES = [(a, e) for a in read_all(ROOT / "solutions") for e in a.exercises]


@pytest.mark.slow
@pytest.mark.parametrize(("assignment", "exercise"), EXERCISES, ids=[e.name for _a, e in EXERCISES])
def test_an_exercise_passes_with_the_blocks_in_place_of_the_others(engine, assignment, exercise):
    allowed = with_requirements(assignment.given(exercise))
    others = [e.name for e in assignment.exercises if e.name in allowed]
    text = assignment.source
    for name in others:
        start, stop = definition_span(text, name)
        text = text[:start] + f"from grader.given import {name}\n" + text[stop:]
    (result,) = engine.grade(submission_of(text, f"{assignment.module}.py"), [exercise.name]).exercises
    assert result.outcome == "passed", (
        others,
        result.message,
        [c for c in result.checks if c.outcome == "failed"],
    )

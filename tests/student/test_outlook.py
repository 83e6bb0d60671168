"""After a pass, a report says what was built, how far the student is, and what is next."""

from dataclasses import replace

import pytest
from helpers.command_line import make_course

from grader.intake.course import find
from grader.report.model import ExerciseResult, Report
from grader.student import progress
from grader.student.outlook import first_question, with_outlook


@pytest.fixture
def course(tmp_path):
    return find(make_course(tmp_path / "course", "04_heads"))


def passed(*names, **more):
    results = (ExerciseResult(name, "04_heads", "passed", 3.0, 3.0, **more) for name in names)
    return Report(tuple(results), sandbox="basic", torch="2", grader="0")


def test_one_exercise_says_what_was_built_and_what_is_next(course):
    first, second = course.bundles[0].exercises
    built, far = with_outlook(passed(first.name), course).outlook
    assert built == first.built
    assert far == f"1 of 2 exercises passed. Next: {second.name}, about {second.minutes} minutes."


def test_the_last_exercise_of_an_assignment_asks_a_question(course):
    names = [exercise.name for exercise in course.bundles[0].exercises]
    progress.save(course.root, passed(names[0]).exercises)
    question = first_question(course.bundles[0])
    assert question.endswith("?")
    for report, count in ((passed(names[1]), 3), (passed(*names), 2)):
        outlook = with_outlook(report, course).outlook
        assert len(outlook) == count
        assert question in outlook[-2]
        assert outlook[-1] == "2 of 2 exercises passed."


def test_what_has_not_passed_or_was_only_a_quick_check_has_no_outlook(course):
    name = course.bundles[0].exercises[0].name
    failed = passed(name)
    failed = replace(failed, exercises=(replace(failed.exercises[0], outcome="failed"),))
    for report in (failed, passed(name, partial=True)):
        assert with_outlook(report, course) is report

"""What a worker may use is what the exercise asks for that it is asked about."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.engine.load_request import SHORT_SECONDS, Setting, limits, patience
from grader.engine.worker_slot import NOTHING, Workplace


@pytest.fixture
def place(engine):
    made = Workplace(engine.launcher)
    yield made
    made.close()


def test_an_exercise_that_is_shown_the_same_has_its_own_limits(engine, place):
    small = engine.exercises["masked_softmax"]
    first = place.session(Setting(NOTHING, small))
    longer = replace(small, limits={**small.limits, "wall_seconds": 20.0})
    assert place.session(Setting(NOTHING, longer)) is first, "wall seconds hold for a request"
    assert first.limits == limits(longer)
    larger = replace(longer, limits={**longer.limits, "cpu_seconds": 60.0})
    other = place.session(Setting(NOTHING, larger))
    assert other is not first, "what a process was started with holds for good"
    assert other.granted == other.limits == limits(larger)
    assert place.session(Setting(NOTHING, larger)) is other


def test_only_a_costly_case_may_take_long(engine):
    exercise = engine.exercises["train"]
    for case in exercise.cases:
        assert patience(exercise, case) == (limits(exercise).wall_seconds if case.costly else SHORT_SECONDS)
    assert limits(exercise).wall_seconds > SHORT_SECONDS
    assert {case.costly for case in exercise.cases} == {True, False}

"""A worker has the limits of its exercise, and a case that is not costly has a shorter timeout."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.engine.load_request import LoadRequest, case_timeout, limits
from grader.engine.worker_slot import PLAIN_FILE, WorkerSlot
from grader.sandbox.base import SHORT_SECONDS


@pytest.fixture
def slot(engine):
    made = WorkerSlot(engine.launcher)
    yield made
    made.close()


def session(slot, request):
    slot.load(request)
    return slot._session


def test_a_worker_is_reused_only_for_an_exercise_with_its_limits(engine, slot):
    small = engine.exercises["masked_softmax"]
    first = session(slot, LoadRequest(PLAIN_FILE, small))
    longer = replace(small, limits={**small.limits, "wall_seconds": 20.0})
    assert session(slot, LoadRequest(PLAIN_FILE, longer)) is first, "wall_seconds is sent with each request"
    assert first.limits == limits(longer)
    larger = replace(longer, limits={**longer.limits, "cpu_seconds": 60.0})
    other = session(slot, LoadRequest(PLAIN_FILE, larger))
    assert other is not first, "a process keeps the other limits that it was started with"
    assert other.limits == limits(larger)
    assert session(slot, LoadRequest(PLAIN_FILE, larger)) is other


def test_only_a_costly_case_has_the_timeout_of_the_exercise(engine):
    exercise = engine.exercises["train"]
    for case in exercise.cases:
        assert case_timeout(exercise, case) == (
            limits(exercise).wall_seconds if case.costly else SHORT_SECONDS
        )
    assert limits(exercise).wall_seconds > SHORT_SECONDS
    assert {case.costly for case in exercise.cases} == {True, False}

"""A search runs only the steps that show whether an edit fails, and judges as the grader does."""

from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs

from grader.judge.observation import Observation, StudentError
from grader.judge.verdict import judge_case, right_answer
from grader.lines.search import Budget, Search, passes, runnable, up_to_first_failure
from grader.worker.steps import Gradients, Ref, See


@pytest.fixture(scope="module")
def exercise(bundles):
    return next(e for b in bundles for e in b.exercises if e.name == "MultiHeadAttention")


@pytest.fixture
def case(exercise):
    """Return a case that observes a result, then gradients, then its inputs."""
    return next(case for case in runnable(exercise) if case.id == "per-sequence")


def wrong_in(case, name: str) -> Observation:
    """Return the right observation with one wrong tensor."""
    right = right_answer(case)
    seen = right.seen[name]
    return replace(right, seen={**right.seen, name: replace(seen, array=seen.array + np.float32(1))})


def gradient(case) -> str:
    return next(name for check in case.checks for name in check.of if name.startswith("grad "))


def test_a_wrong_result_needs_no_gradients(case):
    result = case.all_of(See)[0].name
    short = up_to_first_failure(case, wrong_in(case, result))
    assert short.steps[-1] == See(result, Ref(result))
    assert len(short.steps) < len(case.steps)
    assert not passes(short, wrong_in(case, result))
    assert passes(short, right_answer(case))


def test_a_wrong_gradient_keeps_the_steps_up_to_gradients(case):
    short = up_to_first_failure(case, wrong_in(case, gradient(case)))
    assert isinstance(short.steps[-1], Gradients)
    assert not passes(short, wrong_in(case, gradient(case)))


def test_a_case_that_requires_an_exception_is_not_shortened(bundles):
    prune = next(e for b in bundles for e in b.exercises if e.name == "prune_heads")
    raising = next(c for c in runnable(prune) if any(check.judge == "raises" for check in c.checks))
    assert up_to_first_failure(raising, Observation({})) is raising


def test_stages_are_not_watched_in_a_search(exercise):
    assert any(case.stages for case in exercise.cases)
    assert not any(case.stages for case in runnable(exercise))


def test_a_search_passes_the_observations_that_the_grader_passes(case):
    case = structs.replace(case, checks=tuple(check for check in case.checks if check.judge == "equal"))
    error = StudentError("ValueError", "", None, "call")
    seen = [
        right_answer(case),
        wrong_in(case, gradient(case)),
        Observation({}, error),
        replace(right_answer(case), error=error),
    ]
    judged = [
        all(c.outcome in ("passed", "advice") for c in judge_case(case, observation).checks)
        for observation in seen
    ]
    assert [passes(case, observation) for observation in seen] == judged
    assert judged == [True, False, False, True]


@pytest.mark.parametrize(("took", "begun"), [(9.0, True), (9.5, False)])
def test_a_certification_may_take_a_tenth_longer(took, begun):
    """It starts only if 1.1 times the time of a passing run is left: 9.9 of 10 seconds, but not 10.45.

    The time of its worker is counted in advance.
    """
    search = Search(None, None, Budget(most=10.0, wall=60.0), passing=took)
    assert search.may_certify() is begun
    assert search.budget.worker == (took if begun else 0.0)

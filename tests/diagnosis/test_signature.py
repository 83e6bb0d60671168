"""Signatures distinguish answers by their results, and need little memory for huge results."""

import tracemalloc

import numpy as np

from grader.bundle.model import Check, Header, RecordedCase
from grader.diagnosis.signature import PROJECTIONS, project, slots
from grader.diagnosis.signature import signature as of_judged
from grader.judge.observation import Observation, Seen, StudentError
from grader.judge.verdict import judge_all
from grader.worker.steps import Seed

WANT = np.random.default_rng(0).standard_normal((2, 3, 5))


def signature(cases, observations):
    return of_judged(cases, judge_all(cases, observations))


def case(*checks, steps=(), dtype="float32", headers=("out",)):
    shapes = {n: Header((2, 3, 5), dtype) for n in headers}
    return RecordedCase("c", dtype, tuple(checks), shapes, tuple(steps), expected={"out": WANT})


EQUAL = Check("c/values", "values", "", "equal", ("out",))
SHAPE = Check("c/shapes", "shapes", "", "shape", ("out",))


def observed(array):
    return {"c": Observation({"out": Seen(array.shape, "float32", array.astype(np.float32))})}


def test_equal_answers_have_equal_signatures_and_others_do_not():
    states, numbers = signature([case(EQUAL)], observed(WANT))
    again, near = signature([case(EQUAL)], observed(WANT + 1e-7))
    _, far = signature([case(EQUAL)], observed(WANT * 1.05))
    assert states == again
    assert np.abs(numbers - near).max() < 1e-6
    assert np.abs(numbers - far).max() > 1e-3


def test_a_signature_has_one_state_and_one_row_per_slot():
    cases = [case(EQUAL, SHAPE)]
    states, numbers = signature(cases, observed(WANT))
    assert slots(cases) == ("c|out", "c|check:c/shapes")
    assert len(states) == 2
    assert numbers.shape == (2, PROJECTIONS)


def test_the_state_depends_on_the_place_of_nan():
    def state(index):
        array = WANT.copy()
        array[index] = np.nan
        return signature([case(EQUAL)], observed(array))[0]

    assert state((0, 0, 0)) == state((0, 0, 0))
    assert state((0, 0, 0)) != state((0, 0, 1))


def test_errors_missing_results_and_shapes_have_different_states():
    error = StudentError("TypeError", "", None, "call")
    seen = [
        {"c": Observation({}, error=error)},
        {"c": Observation({})},
        {},
        observed(np.zeros((2, 3))),
        observed(np.zeros((3, 2))),
        {"c": Observation({"out": Seen(odd="None")})},
    ]
    assert len({signature([case(EQUAL)], observations)[0] for observations in seen}) == len(seen)


def test_an_error_has_the_same_state_in_an_older_torch():
    says = "value cannot be converted to type {} without overflow"
    errors = [
        StudentError("RuntimeError", says.format(name), None, "call") for name in ("at::Half", "c10::Half")
    ]
    older, newer = (signature([case(EQUAL)], {"c": Observation({}, error=e)})[0] for e in errors)
    assert older == newer


def test_random_or_imprecise_results_have_no_slot_for_values():
    random = case(EQUAL, steps=[Seed(1)])
    assert slots([random]) == ("c|check:c/values",)
    assert slots([case(EQUAL, dtype="bfloat16")]) == ()


def test_projections_are_the_same_on_every_machine():
    ones = project(np.ones((2, 3)))
    assert np.allclose(ones[:2], [1.0071650639, 1.2033659553], atol=1e-9)


def test_a_signature_of_a_huge_result_needs_little_memory():
    huge = {"c": Observation({"out": Seen((1 << 21,), "float32", np.ones(1 << 21, dtype=np.float32))})}
    tracemalloc.start()
    states, _ = signature([case(EQUAL)], huge)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert str(1 << 21) in states[0]
    assert peak < 64 << 20

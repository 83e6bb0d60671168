"""Trained weights are evaluated in a separate worker; if that worker fails, the grader is at fault."""

import numpy as np
import pytest

from grader.bundle.model import Header, RecordedCase
from grader.cases.case import Case
from grader.engine.judged_cases import examined
from grader.judge.observation import Observation, Seen
from grader.sandbox.base import Limits, SandboxError

WEIGHTS = np.ones(2, dtype=np.float32)
MODEL = """
import torch
class Model(torch.nn.Module):
    def forward(self):
        return torch.ones(2) / (1 // {divisor})
"""


def case_with_exam(divisor: int) -> RecordedCase:
    """Return a training case with an exam, the case that evaluates the trained weights.

    The exam calls a model, which raises if the divisor is 0.
    """
    exam = Case("exam", "train")
    exam.see(exam.call(on=exam.provide(MODEL.format(divisor=divisor), "Model")), "y")
    asked = {"y": Header((2,), "float32")}
    recorded = RecordedCase("exam", "float32", (), asked, tuple(exam.steps))
    headers = {"state w": Header((2,), "float32")}
    return RecordedCase("train", "float32", (), headers, exam=recorded)


def seen(array: np.ndarray) -> Observation:
    return Observation({"state w": Seen(array.shape, "float32", array)})


def evaluated(engine, divisor: int, observation: Observation) -> Observation:
    return examined(case_with_exam(divisor), observation, engine.launcher, Limits(), {})


@pytest.mark.parametrize(
    "observation", [Observation({}), seen(WEIGHTS[:1])], ids=["no weights", "another shape"]
)
def test_without_the_weights_nothing_is_evaluated(engine, observation):
    assert evaluated(engine, 0, observation) is observation


def test_an_evaluation_that_raises_is_a_fault_of_the_grader(engine):
    with pytest.raises(SandboxError, match="the trained model could not be evaluated: ZeroDivisionError: "):
        evaluated(engine, 0, seen(WEIGHTS))


def test_what_the_evaluation_observes_is_added(engine):
    found = evaluated(engine, 1, seen(WEIGHTS)).seen
    assert found.keys() == {"state w", "y"}
    assert np.array_equal(found["y"].array, np.ones(2))

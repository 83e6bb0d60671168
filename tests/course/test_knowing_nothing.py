"""An answer without a computation gets few points, even with the expected shapes and dtypes.

Except in the exercises catches_…, it also returns the expected results that are no tensors, such as numbers.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from grader.bundle.model import Bundle, Exercise, RecordedCase
from grader.bundle.safetensors import Array
from grader.engine.draft import draft_of
from grader.engine.student_file import CourseTables, student_file
from grader.intake.read import Submission
from grader.judge.observation import Observation, Seen, StudentError
from grader.judge.verdict import judge_case

pytestmark = pytest.mark.slow

MOST = 10.0  # percent of the points
PROBLEMS = ("missing", "misshapen", "unexpected", "shared")  # of the parameters

Recipe = Callable[[np.random.Generator, tuple[int, ...]], Array]
RECIPES: Mapping[str, Recipe] = {
    "zeros": lambda rng, shape: np.zeros(shape),
    "ones": lambda rng, shape: np.ones(shape),
    "noise": lambda rng, shape: rng.standard_normal(shape),
    "little noise": lambda rng, shape: 1e-4 * rng.standard_normal(shape),
    "equal rows": lambda rng, shape: np.broadcast_to(rng.standard_normal(shape[-1:]), shape),
    "rows that sum to one": lambda rng, shape: _sums_to_one(rng.random(shape)),
    "even rows that sum to one": lambda rng, shape: _sums_to_one(np.ones(shape)),
    "one seed for all": lambda rng, shape: np.random.default_rng(0).standard_normal(shape),
    "one seed, some zeros": lambda rng, shape: np.random.default_rng(0).standard_normal(shape).clip(0),
    "words": lambda rng, shape: rng.integers(0, 9, shape),
}
# Recipes for an answer that has an argument with the expected shape.
ARGUMENTS: Mapping[str, Callable[[Array], Array]] = {
    "an argument": lambda array: array,
    "an argument and a half": lambda array: 1.5 * array,
    "the mean of an argument": lambda array: np.broadcast_to(array.mean(keepdims=True), array.shape),
}


def _sums_to_one(array: Array) -> Array:
    return array / array.sum(-1, keepdims=True) if array.ndim else array


def observation(case: RecordedCase, recipe: str, *, with_values: bool) -> Observation:
    """Return an observation with the expected shapes, dtypes and exceptions.

    recipe: how the values of tensors are made. with_values: whether it also has the expected results that are no
    tensors.
    """
    rng = np.random.default_rng(1)
    seen: dict[str, Seen] = {}
    for name, header in case.headers.items():
        if header.dtype == "value":
            continue
        # "after X" is the argument X after the call, which must be unchanged.
        argument = case.tensors.get(name.removeprefix("after "))
        if name.startswith("after ") and argument is not None:
            array = argument
        elif recipe in RECIPES:
            array = RECIPES[recipe](rng, header.shape)
        else:
            fitting = [t for t in case.tensors.values() if t.shape == header.shape and t.dtype.kind == "f"]
            array = fitting[0].astype(np.float64) if fitting else rng.standard_normal(header.shape)
            array = ARGUMENTS[recipe](array)
        dtype = "float32" if header.dtype == "bfloat16" else header.dtype
        seen[name] = Seen(header.shape, header.dtype, np.asarray(array).astype(dtype))
    wants = {check.of[0]: check.params["want"] for check in case.checks if check.judge == "value"}
    refused = [check.params["type"] for check in case.checks if check.judge == "raises"]
    return Observation(
        seen,
        error=StudentError(refused[0], "", None, "") if refused else None,
        parameters={**{key: [] for key in PROBLEMS}, "shapes": {}, "layout": ""},
        values=wants if with_values else {},
    )


def points(exercise: Exercise, recipe: str) -> float:
    # Not `catches_*`: their result is a plain value, so the expected one solves the exercise.
    with_values = not exercise.name.startswith("catches_")
    judged = [judge_case(case, observation(case, recipe, with_values=with_values)) for case in exercise.cases]
    nothing = Submission(Path("nothing.py"), ())
    result = draft_of(student_file(CourseTables({}, {}, {}), nothing), exercise, judged)
    assert result.outcome == "failed", f"{exercise.name} passes with {recipe}"
    return result.score


def test_results_without_a_computation_get_at_most_10_percent(bundles: list[Bundle]):
    exercises = [exercise for bundle in bundles for exercise in bundle.exercises]
    best = {
        exercise.name: max((points(exercise, recipe), recipe) for recipe in (*RECIPES, *ARGUMENTS))
        for exercise in exercises
    }
    reached = sum(score for score, _recipe in best.values())
    assert 100 * reached / sum(exercise.points for exercise in exercises) <= MOST, best

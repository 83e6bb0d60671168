"""Replies of a worker with values of every wrong kind."""

from __future__ import annotations

import copy
import json
import random

import numpy as np
import pytest

from grader.bundle.safetensors import encode
from grader.diagnosis.match import diagnose
from grader.judge.normalise import normalise_layouts
from grader.judge.observation import BadReply, read_observation, student_error
from grader.judge.trivial import is_trivial
from grader.judge.verdict import judge_case
from grader.report.formats import FORMATS
from grader.report.model import ExerciseResult, Report

# Values of every wrong kind, for every word of a reply.
ODD = [
    None, True, -1, 0, 10**30, 1.5, float("nan"), float("inf"), "", "x" * 5000, "\ud800\x1b[2J\u202e", [], {}, [[]], [None] * 700, {"is": 5},
    {"is": "\x1b"}, {"shape": [1, "2", None]}, {"": {"": []}}, [["a"], ["b", "c"], 5], {"file": [], "line": -5, "text": {}},
]  # fmt: skip


def confused(rng: random.Random, value: object) -> object:
    """The same words with one thing somewhere in them of another kind."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = rng.choice(list(value))
        return {
            **value,
            key: confused(rng, value[key]),
            **({str(rng.choice(ODD)): 1} if rng.random() < 0.1 else {}),
        }
    if isinstance(value, list) and value and rng.random() < 0.8:
        return [*value, confused(rng, value[0])]
    return copy.deepcopy(rng.choice(ODD))


def filled(rng: random.Random) -> np.ndarray:
    dtype = rng.choice(["f4", "f8", "i8", "?"])
    shape = rng.choice([(), (0,), (1,), (2, 3), (1, 1, 1), (0, 5, 2), (2, 2, 2, 2)])
    return np.full(shape, rng.choice([0, 1, np.nan, np.inf, -3e38] if dtype[0] == "f" else [0, 1]), dtype)


@pytest.mark.parametrize("name", ["sequence_mask", "masked_softmax", "MultiHeadAttention"])
def test_confused_replies_never_get_past_the_reader_as_anything_but_a_result(bundles, name):
    """Whatever stands where in a reply, there is a verdict and a report, and it is not a pass."""
    exercise = next(e for b in bundles for e in b.exercises if e.name == name)
    rng = random.Random(name)
    for _ in range(400):
        case = rng.choice(exercise.cases)
        words: object = {
            "odd": {n: {"is": "a tuple of 2", "shape": [1, 2]} for n in list(case.asked)[:2]},
            "error": {"type": "ValueError", "message": "m", "where": {"file": "a.py", "line": 3, "text": "x"}, "step": "call"},
            "parameters": {
                "missing": ["W_q.weight"], "unexpected": ["a"], "misshapen": [], "shared": [["a", "b"]], "layout": "", "shapes": {"a": [1, 2]},
            },
            "values": dict.fromkeys(case.asked, 1),
            "warnings": ["w"], "stacked": ["weights"], "used": ["x"],
        }  # fmt: skip
        for _ in range(rng.randrange(1, 4)):
            words = confused(rng, words)
        words = json.loads(json.dumps(words))
        if not isinstance(words, dict):
            continue
        body = b""
        if rng.random() < 0.5:
            arrays = {n: filled(rng) for n in case.asked}
            body = encode(arrays)
        try:
            observation = normalise_layouts(
                read_observation(words, body, case.asked, frozenset({"a.py"})), case.steps
            )
        except BadReply:
            continue
        judged = judge_case(case, observation)
        checks = judged.checks
        assert not all(check.outcome == "passed" for check in checks)
        is_trivial([(case, observation)])
        result = ExerciseResult(
            name,
            "a",
            "failed",
            0.0,
            1.0,
            checks=checks,
            diagnosis=diagnose(exercise, {case.id: judged}, checks).diagnosis,
        )
        for form in FORMATS.values():
            form(Report((result,), "basic", "", "")).encode()


@pytest.mark.parametrize("value", ODD)
def test_no_word_of_an_exception_is_believed_to_be_text(value):
    for words in (
        value,
        {"type": value, "message": value, "where": value, "step": value},
        {"where": {"file": value, "line": value, "text": value}},
    ):
        error = student_error(words)
        assert error is None or all(isinstance(text, str) for text in (error.type, error.message, error.step))

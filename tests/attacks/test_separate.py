"""What one exercise leaves behind reaches no other, and who is to blame when a worker breaks down."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from attacks.forging import FORGE
from attacks.suite import RIGHT

from grader.engine import Engine, with_requirements
from grader.intake.read import Submission, Unit

SOLUTIONS = Path(__file__).resolve().parents[2] / "solutions"
RIGHT_MASK = """
def sequence_mask(X, valid_len, value=0):
    keep = torch.arange(X.shape[1])[None, :] < valid_len[:, None]
    return X.masked_fill(~keep.reshape(keep.shape + (1,) * (X.dim() - 2)), value)
"""


class Counting:
    """A launcher that counts the workers it gave."""

    def __init__(self, launcher):
        self.launcher = launcher
        self.tier = launcher.tier
        self.count = 0

    def start(self, limits):
        self.count += 1
        return self.launcher.start(limits)


@pytest.fixture
def counted(engine, bundles):
    made = Engine(bundles, Counting(engine.launcher))
    yield made
    made.close()


def submission(*parts):
    return Submission(Path("answer.py"), (Unit("answer.py", "import os, sys, torch\n" + "\n".join(parts)),))


def outcomes(report):
    return {e.name: e.outcome for e in report.exercises}


def test_exercises_with_the_same_blocks_share_a_worker_and_no_others_do(counted, bundles):
    scoring = (SOLUTIONS / "03_scoring" / "scoring.py").read_text()
    report = counted.grade(submission(scoring, RIGHT_MASK, RIGHT))
    assert set(outcomes(report).values()) == {"passed"}
    assert [e.name for e in report.exercises] == [
        "sequence_mask",
        "masked_softmax",
        "AdditiveAttention",
        "DotProductAttention",
    ]
    assert counted.launcher.count == 2


def test_few_workers_are_needed_for_a_whole_course(bundles):
    """A cold worker takes a second: exercises are graded in an order that needs few."""
    exercises = [e for b in bundles for e in b.exercises]
    kinds = {with_requirements(e.given) for e in exercises}
    assert len(kinds) <= 12


def test_no_exercise_may_use_a_block_that_answers_it(bundles):
    for exercise in (e for b in bundles for e in b.exercises):
        assert exercise.name not in with_requirements(exercise.given)


def test_what_another_exercises_cases_bring_along_is_seen_by_no_other(counted):
    """A case of `catches_tangled` may bring a sound class; it must not answer the repair of that class."""
    source = (SOLUTIONS / "05_multi_head_attention" / "multi_head_attention.py").read_text()
    names = ["TangledSelfAttention", "catches_tangled", "TransparentSelfAttention"]
    for before, after in pairwise(names):
        counted.grade(submission(source), [before])
        worker = counted._session
        assert outcomes(counted.grade(submission(source), [after])) == {after: "passed"}
        assert counted._session is not worker


@pytest.mark.parametrize(
    "words",
    [
        "{'values': {}, 'odd': {}}",
        "{'fault': 'no'}",
        "{'names': []}",
        "{'error': {'type': 'E', 'message': 'm'}}",
    ],
)
def test_frames_that_one_exercise_writes_answer_no_request_of_the_next(counted, words):
    hostile = "def sequence_mask(X, valid_len, value=0):\n" + "\n".join(
        "    " + line
        for line in (FORGE + f"\nfor _ in range(30): forge({words})\nreturn X").strip().splitlines()
    )
    report = counted.grade(submission(hostile, RIGHT), ["sequence_mask", "masked_softmax"])
    assert outcomes(report) == {"sequence_mask": "failed", "masked_softmax": "passed"}


def test_a_breakdown_that_the_submission_brings_about_is_its_own(counted):
    breaks = "import safetensors.torch\ndef fail(*a): raise MemoryError('no points lost')\nsafetensors.torch.save = fail\n"
    report = counted.grade(submission(breaks, RIGHT), ["masked_softmax"])
    assert outcomes(report) == {"masked_softmax": "failed"}
    assert report.points == report.exercises[0].points, "it stays in the sum"
    assert any(
        c.message == "it broke the worker, which does well without it, twice (MemoryError: no points lost)"
        for c in report.exercises[0].checks
    )


def test_a_breakdown_without_the_submission_costs_no_points(counted, monkeypatch):
    monkeypatch.setattr(
        "grader.engine._request", lambda *a: {"op": "run", "case": {"steps": [], "dtype": "no such dtype"}}
    )
    (result,) = counted.grade(submission(RIGHT), ["masked_softmax"]).exercises
    assert (result.outcome, result.score) == ("could_not_grade", None)
    assert "no such dtype" in result.message

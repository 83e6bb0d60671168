"""Measure the CPU time of naming the mistake in each wrong answer of tests/answers, with an empty cache."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import torch

from benches.measure import ROOT
from grader.authoring.observe import observe
from grader.bundle.files import load_all
from grader.bundle.model import Exercise
from grader.diagnosis import signature
from grader.diagnosis.match import diagnose
from grader.diagnosis.signature import named_by
from grader.judge.verdict import judge_all

sys.path.insert(0, str(ROOT / "tests"))
from helpers.answers import ANSWERS


def costs() -> list[float]:
    """Return seconds of processor time for each answer that fails on the CPU."""
    torch.set_num_threads(1)  # as in a worker: the tensors are tiny
    exercises = {e.name: e for b in load_all(ROOT / "assignments") for e in b.exercises if e.signatures}
    return [cost for exercise in exercises.values() for cost in _of(exercise)]


def _of(exercise: Exercise) -> Iterator[float]:
    cases = named_by(exercise.cases)  # without cases that train, which take long and name no mistake
    wrong = (a for a in ANSWERS if a.exercise == exercise.name and a.name.startswith("wrong_"))
    for answer in wrong:
        if answer.breaks in ({"device"}, {"precision"}):  # passes on the CPU in float32
            continue
        seen = observe(answer.source, exercise.given, cases, dtype="float32")
        judged = judge_all(cases, seen)
        checks = [check for case in judged.values() for check in case.checks]
        signature._directions.cache_clear()  # as in a new process
        before = time.process_time()
        found = diagnose(exercise, judged, checks).diagnosis
        if found.kind == "unknown":
            signature.fingerprint(exercise.cases, judged)
        yield time.process_time() - before

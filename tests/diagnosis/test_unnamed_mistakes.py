"""If a mistake is not in the bank, the report on it names the right place and the right stage.

A *stage* is an intermediate result of a class, such as the scores. Each known mistake of a class with stages, except
the policies, is removed from the bank in turn. tests/course/test_answers.py checks the same with independent answers.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from helpers.truth import (
    ASSIGNMENTS,
    STAGED,
    assert_facts_are_true,
    assert_places_are_true,
    reported_stage,
    true_stage,
)

from grader.authoring.bank import apply
from grader.authoring.observe import definitions, observe
from grader.bundle.model import Exercise
from grader.diagnosis.match import diagnose
from grader.judge.verdict import judge_all


def without(exercise: Exercise, id: str) -> Exercise:
    """Return the exercise without a known mistake, and without the pairs that contain it."""
    table = exercise.signatures
    rest = np.array([id not in ids for ids in table.explains])
    kept = tuple(ids for ids, stays in zip(table.explains, rest, strict=True) if stays)
    return replace(
        exercise,
        mistakes=tuple(m for m in exercise.mistakes if m.id != id),
        signatures=replace(table, explains=kept, states=table.states[rest], numbers=table.numbers[rest]),
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", STAGED)
def test_the_report_on_an_unknown_mistake_has_place_and_stage(bundles, name):
    torch.set_num_threads(1)
    exercise = next(e for b in bundles for e in b.exercises if e.name == name)
    assignment = ASSIGNMENTS[name]
    reference = definitions(assignment.source)
    tried, unknown, places, stages = 0, [], 0, set()
    for mistake in assignment.mistakes(name):
        if mistake.kind == "policy":
            continue
        tried += 1
        source = apply(mistake, reference)
        seen = observe(source, exercise.given, exercise.cases, dtype="float32")
        judged = judge_all(exercise.cases, seen)
        checks = [check for case in judged.values() for check in case.checks]
        assert any(c.outcome == "failed" for c in checks), mistake.id
        found = diagnose(without(exercise, mistake.id), judged, checks).diagnosis
        if found.alternatives:  # another mistake has the same results
            continue
        unknown.append(mistake.id)
        places += assert_places_are_true(exercise, seen, checks)
        assert_facts_are_true(exercise, seen, found.says)
        stage = true_stage(exercise, source)
        assert stage is None or reported_stage(found.says) == stage, mistake.id
        stages.add(reported_stage(found.says))
    print(name, len(unknown), places, stages)
    assert len(unknown) >= 0.95 * tried
    assert places >= 2 * len(unknown)
    assert len(stages) >= 5  # most of the stages

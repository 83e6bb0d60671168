"""Independent answers, right and wrong: each gets its expected outcome and a record that matches the schema.

For wrong answers, the names of mistakes and the facts are right, too.
"""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from helpers.answers import ANSWERS, HERE, Answer
from helpers.lanes import first_of_each
from helpers.report_rules import assert_obeys
from helpers.truth import STAGED, assert_facts_are_true, assert_places_are_true, reported_stage, true_stage

from grader.bundle.model import Exercise
from grader.diagnosis import match as diagnosis
from grader.diagnosis.signature import named_by
from grader.report.model import ExerciseResult, to_json

# exercise/file → result, so that the tests below grade each answer once
GRADED: dict[str, ExerciseResult] = {}
# exercise/file → the arguments of `_facts`, for answers without a known mistake
ARGUMENTS: dict[str, tuple] = {}


@pytest.fixture(scope="module")
def known(bundles) -> frozenset[str]:
    return frozenset(e.name for b in bundles for e in b.exercises)


def test_every_exercise_has_right_and_wrong_answers(known):
    # The exercises catches_…, in which students write a test, need no answers here.
    written = {name for name in known if not name.startswith("catches_")}
    assert {(a.exercise, a.is_right) for a in ANSWERS} >= {
        (n, right) for n in written for right in (True, False)
    }
    assert {a.exercise for a in ANSWERS} <= known
    assert sum(a.is_right for a in ANSWERS) >= 195
    assert sum(not a.is_right for a in ANSWERS) >= 590


@pytest.fixture(scope="module", autouse=True)
def warm(engine):
    """Import once, in the worker server, the modules that every worker would import, such as the optimizers."""
    engine.launcher.warm("full")


@pytest.fixture
def graded(engine, monkeypatch):
    """Return a function that grades an answer once, and stores the arguments of its diagnosis.

    It runs the cases with a training only if the answer passes all other cases.
    """

    def grade(answer: Answer) -> ExerciseResult:
        name = answer.id
        if name not in GRADED:
            plain = diagnosis._facts

            def stores_arguments(*arguments):
                ARGUMENTS[name] = arguments
                return plain(*arguments)

            with monkeypatch.context() as patched:
                patched.setattr(diagnosis, "_facts", stores_arguments)
                GRADED[name] = graded_without_training(answer) or graded_by(
                    answer, engine.exercises[answer.exercise]
                )
        return GRADED[name]

    def graded_without_training(answer: Answer) -> ExerciseResult | None:
        whole = engine.exercises[answer.exercise]
        brief = replace(whole, cases=named_by(whole.cases))  # without the cases with a training
        result = graded_by(answer, brief)
        return None if result.outcome == "passed" and brief.cases != whole.cases else result

    def graded_by(answer: Answer, exercise: Exercise) -> ExerciseResult:
        with monkeypatch.context() as patched:
            quick = engine.with_options(quick=True)
            patched.setitem(quick.exercises, answer.exercise, exercise)
            report = quick.grade(answer.submission, [answer.exercise])
        assert_obeys(to_json(report))
        return report.exercises[0]

    return grade


def name_of(answer: Answer) -> str:
    return answer.id


@pytest.mark.parametrize("answer", first_of_each(ANSWERS, lambda a: (a.exercise, a.is_right), name_of))
def test_an_independent_answer_gets_the_expected_outcome(answer: Answer, graded):
    result = graded(answer)
    # `later` has the policies that the answer breaks, and perhaps "device"; not all of them have checks here.
    broken_policies = answer.later & {check.policy for check in result.checks}
    if answer.is_right:
        assert result.outcome == "passed", _why(result)
        assert result.score == result.points
        assert result.diagnosis.kind == "none"
        assert {advice.policy for advice in result.advice} == broken_policies
    else:
        assert result.outcome == "failed", f"{answer.says}: {_why(result)}"
        assert result.score is not None
        assert result.score < result.points
        assert _failing(result) & _related(answer.breaks), f"{answer.says}: only {_failing(result)} failed"


WRONG = [a for a in ANSWERS if not a.is_right]


@pytest.mark.parametrize("answer", first_of_each(WRONG, lambda a: a.exercise, name_of))
def test_the_facts_about_an_unknown_answer_are_true(answer: Answer, graded):
    """If no known mistake fits, compute the first wrong place, the pattern and the stage with other code."""
    result = graded(answer)
    if result.diagnosis.alternatives:
        return
    exercise, judged, checks = ARGUMENTS[answer.id]
    observations = {id: case.observation for id, case in judged.items() if case.observation is not None}
    assert_places_are_true(exercise, observations, checks)
    assert_facts_are_true(exercise, observations, result.diagnosis.says)
    if answer.exercise in STAGED:
        assert reported_stage(result.diagnosis.says) == true_stage(exercise, answer.source)


@pytest.mark.slow
def test_nearly_all_wrong_answers_get_a_right_name(graded):
    """Compare with labels that were decided by reading the code. docs/diagnosis.md has the same shares."""
    known = named = rightly_named = known_and_named = 0
    for answer in WRONG:
        if answer.equals is None:
            continue
        result = graded(answer)
        alternatives = [frozenset(names) for names in result.diagnosis.alternatives]
        known += bool(answer.equals)
        named += bool(alternatives)
        known_and_named += bool(answer.equals) and bool(alternatives)
        # An entry with + names mistakes that the answer has together.
        rightly_named += any(names in alternatives for names in answer.equals)
    coverage, precision = 100 * known_and_named / known, 100 * rightly_named / named
    assert known >= 480
    assert coverage >= 95
    assert precision >= 99
    page = (HERE.parents[1] / "docs" / "diagnosis.md").read_text("utf-8")
    for figure, what in ((coverage, "coverage"), (precision, "whose name is right")):
        line = next(line for line in page.splitlines() if what in line)
        assert float(re.search(r"\(([\d.]+) %\)", line)[1]) == pytest.approx(figure, abs=1.0)


def _failing(result: ExerciseResult) -> set[str]:
    return {check.facet for check in result.checks if check.outcome in ("failed", "skipped")}


def _related(breaks: frozenset[str]) -> set[str]:
    """Return the facets of which at least one must fail, or be skipped after another failure.

    A wrong value fails *values*, *masking* or *modes*, depending on the case that shows it.
    """
    numbers = {"values", "masking", "modes"}
    return set(breaks) | (numbers if breaks & numbers else set())


def _why(result: ExerciseResult) -> str:
    failed = [
        f"{c.id}: {c.message} ({c.where})" for c in result.checks if c.outcome not in ("passed", "skipped")
    ]
    return f"{result.outcome} {result.message} {failed[:4]}"

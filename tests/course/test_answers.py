"""Every answer gets the outcome and the name that it should: those of the bank, and the independent ones of tests/answers.

An item per exercise grades each of its answers once. One worker serves them all, as for `grader verify`: all are trusted.
"""

from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest
from helpers.answers import ANSWERS, Answer
from helpers.command_line import ROOT
from helpers.report_rules import assert_obeys

from grader.authoring.content import read_all
from grader.authoring.verify import verify_exercise
from grader.engine.devices import launcher_for
from grader.engine.engine import Engine
from grader.engine.grading import GradingOptions
from grader.report.model import ExerciseResult, to_json
from grader.sandbox.choose import choose

EXERCISES = [(a, e.name) for a in read_all(ROOT / "solutions") for e in a.exercises]
# These equal a known mistake, and the grader finds no name.
UNNAMED = {
    "DecoderBlock/wrong_cache_on_class",
    "DecoderBlock/wrong_pre_norm",
    "MultiHeadAttention/wrong_repeat_interleave_flat",
    "MultiHeadAttention/wrong_relu_and_query_lengths",
    "TransformerDecoder/wrong_last_step_only_too",
    "head_importance/wrong_sign_and_dropout",
    "masked_softmax/wrong_axis_and_first_length",
    "shift_matrix/wrong_integer_table",
    "shift_matrix/wrong_overlapping_pairs_and_abs",
    "prune_heads/wrong_num_heads_unchanged",
    "removal_experiment/wrong_heads_not_put_back",
    "DotProductAttention/wrong_no_mask_and_dropped_weights",
    "Seq2SeqAttentionDecoder/wrong_no_lengths_and_first_layer",
    "TransformerDecoder/wrong_no_factor_and_same_weights",
    "TransformerEncoder/wrong_scaled_late_and_list_grows",
    "kernel_attention_weights/wrong_same_axis_twice",
    "kernel_regression/wrong_w_outside_and_column",
    "removal_experiment/wrong_same_removed_list",
    "sequence_mask/wrong_last_axis_in_loop",
    "transpose_output/wrong_head_first_and_no_permute",
}


def test_every_exercise_has_right_and_wrong_answers():
    # The exercises catches_…, in which students write a test, need no answers here.
    written = {name for _assignment, name in EXERCISES if not name.startswith("catches_")}
    assert {(a.exercise, a.is_right) for a in ANSWERS} == {
        (n, right) for n in written for right in (True, False)
    }
    assert len({a.id for a in ANSWERS}) == len(ANSWERS) >= 950
    assert {a.id for a in ANSWERS if a.equals} > UNNAMED


@pytest.fixture(scope="module")
def engines(bundles) -> Iterator[tuple[Engine, Engine]]:
    """Return an engine for the CPU, and one for the simulated device."""
    with ExitStack() as opened:
        cpu = opened.enter_context(closing(choose(warm="training")))
        sim = opened.enter_context(closing(launcher_for("sim")))
        yield (
            opened.enter_context(closing(Engine(bundles, cpu, GradingOptions(reuse_worker=True)))),
            opened.enter_context(
                closing(Engine(bundles, sim, GradingOptions(device="sim", quick=True, reuse_worker=True)))
            ),
        )


@pytest.mark.slow
@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda pair: pair[1])
def test_every_answer_gets_its_outcome_and_its_name(engines, exercise):
    assignment, name = exercise
    cpu, sim = engines
    problems = verify_exercise(cpu, sim, assignment, name).problems
    for answer in (a for a in ANSWERS if a.exercise == name):
        report = cpu.with_options(quick=True).grade(answer.submission, [name])
        assert_obeys(to_json(report))
        problems += [f"{answer.name}: {problem}" for problem in of_answer(answer, report.exercises[0])]
        if answer.is_right and cpu.exercises[name].weights.get("device", 1):
            there = sim.grade(answer.submission, [name]).exercises[0]
            if there.outcome != ("failed" if "device" in answer.later else "passed"):
                problems.append(f"{answer.name} on the device: {there.outcome} {why(there)}")
    assert not problems, "\n".join(problems)


def of_answer(answer: Answer, result: ExerciseResult) -> Iterator[str]:
    """Yield what differs from the header of an answer: its outcome, its facets, its advice, its name."""
    wanted = "passed" if answer.is_right else "failed"
    if result.outcome != wanted:
        yield f"{result.outcome}, not {wanted} ({answer.says}): {why(result)}"
        return
    named = {frozenset(names) for names in result.diagnosis.alternatives}
    if answer.is_right:
        # Not all policies that the answer breaks have checks here, and "device" is no policy.
        broken = answer.later & {check.policy for check in result.checks}
        advised = {advice.policy for advice in result.advice}
        if result.score != result.points or advised != broken or named:
            yield f"{result.score} points, advice about {advised}, not {broken}; named {named}"
        return
    if result.score >= result.points or not failing(result) & related(answer.breaks):
        yield f"{result.score} points, {failing(result)} failed, not {set(answer.breaks)}"
    if answer.equals is None or (answer.id in UNNAMED and not named):
        return
    if not (named & set(answer.equals) if answer.equals else not named):
        yield f"named {[*map(sorted, named)]}, not {[*map(sorted, answer.equals)]}"


def failing(result: ExerciseResult) -> set[str]:
    return {check.facet for check in result.checks if check.outcome in ("failed", "skipped")}


def related(breaks: frozenset[str]) -> set[str]:
    """Return the facets of which at least one must fail, or be skipped after another failure.

    A wrong value fails *values*, *masking* or *modes*, depending on the case that shows it.
    """
    numbers = {"values", "masking", "modes"}
    return set(breaks) | (numbers if breaks & numbers else set())


def why(result: ExerciseResult) -> str:
    failed = [
        f"{c.id}: {c.message} ({c.where})" for c in result.checks if c.outcome not in ("passed", "skipped")
    ]
    return f"{result.message} {failed[:3]}"

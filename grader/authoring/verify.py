"""Prove that the course is right.

Solutions pass, stubs are not started, known mistakes are caught and named, right variants pass, trivial answers get
nothing, building blocks pass as answers, and hints and sentences about mistakes contain no code.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import structs

from grader import given
from grader.authoring.bank import DEVICE, KnownAnswer, apply
from grader.authoring.content import Assignment
from grader.bundle.model import Bundle, Exercise
from grader.diagnosis.signature import ANY
from grader.engine.engine import Engine
from grader.intake.read import Submission, Unit
from grader.report.model import ExerciseResult
from grader.support.code import stub

# Exceptions which suggest that the code of a known mistake has a bug of its own.
SLIPS = {
    "TypeError",
    "AttributeError",
    "NameError",
    "UnboundLocalError",
    "ImportError",
    "ModuleNotFoundError",
}


@dataclass
class Row:
    """The findings for one exercise."""

    assignment: str
    exercise: str
    facets: Counter[str] = field(default_factory=Counter)  # facet → number of its checks
    mistakes: int = 0  # answers that must fail: mistakes (without policies), their other forms, and mutants
    caught: int = 0  # of these: failed
    named: int = 0  # of these: named by the diagnosis
    variants: int = 0  # answers that must pass
    accepted: int = 0  # of these: passed
    trivial: int = 0  # answers that must get no points
    refused: int = 0  # of these: failed without points
    device_mistakes: int = 0  # answers that must fail on the other device only
    device_caught: int = 0  # of these: failed there, with a line named
    policies: int = 0  # answers that must pass with advice about their policy
    advised: int = 0  # of these: advice names the answer, and there is no advice about another policy
    problems: list[str] = field(default_factory=list)


def verify_exercise(engine: Engine, other: Engine | None, assignment: Assignment, name: str) -> Row:
    """Grade all known answers to one exercise, and return what was found.

    `other`: an engine for another device. There, right answers must pass, and answers that break `device` must fail.
    """
    exercise = _bundle_of(engine, assignment).exercise(name)
    row = Row(assignment.name, name)
    row.facets.update(check.facet for case in exercise.cases for check in case.checks)
    reference = _graded(engine, assignment, assignment.source, name)
    if reference.outcome != "passed":
        row.problems.append(f"the reference is {_why(reference)}")
    untouched = _graded(engine, assignment, stub(assignment.source), name)
    if untouched.outcome != "not_started":
        row.problems.append(f"the stub is {_why(untouched)}")
    row.problems += _of_texts(assignment, exercise)
    for answer in [*assignment.mistakes(name), *assignment.mutants(name)]:
        for form in (answer, *answer.forms):
            _check_mistake(row, answer, _answer(engine, assignment, form))
    for answer in assignment.variants(name):
        _check_variant(row, answer, _answer(engine, assignment, answer))
    _check_block(row, engine, assignment, exercise)
    if other is not None and exercise.weights.get("device", 1):
        _check_other_device(row, other, assignment, exercise)
    return row


def _of_texts(assignment: Assignment, exercise: Exercise) -> Iterator[str]:
    for number, hint in enumerate(exercise.hints, 1):
        if code := code_in(hint):
            yield f"hint {number} holds code: {code}"
    for answer in assignment.mistakes(exercise.name):
        for part, text in (("says", answer.says), ("asks", answer.asks)):
            if code := code_in(text):
                yield f"mistake {answer.id}: `{part}` holds code: {code}"
        if crash := _only_crash(exercise, answer):
            yield f"mistake {answer.id} raises {crash} in every case, so its code probably has a bug that `says` does not describe"


def _only_crash(exercise: Exercise, answer: KnownAnswer) -> str:
    """Return the exceptions of a mistake that raises in every case, if all are among SLIPS; else ""."""
    if exercise.signatures is None:
        return ""
    table = exercise.signatures
    # The signatures of this mistake alone. A state that begins with "!" is an exception.
    rows = [row for names, row in zip(table.explains, table.states, strict=True) if names == (answer.id,)]
    seen = {str(state) for row in rows for state in row} - {ANY}
    raised = {state.removeprefix("!").split()[0] for state in seen if state.startswith("!")}
    only_raises = bool(seen) and all(state.startswith("!") for state in seen)
    return " or ".join(sorted(raised)) if only_raises and raised <= SLIPS else ""


def _check_mistake(row: Row, answer: KnownAnswer, result: ExerciseResult) -> None:
    if answer.kind == "policy":
        _check_policy(row, answer, result)
        return
    row.mistakes += 1
    if result.outcome != "failed":
        row.problems.append(f"mistake {answer.id} is {_why(result)}")
        return
    row.caught += 1
    if any(answer.id in names for names in result.diagnosis.alternatives):
        row.named += 1
    elif result.diagnosis.kind != "none":  # "none": the exercise has no table of known mistakes
        row.problems.append(f"mistake {answer.id} is caught and not named")


def _check_policy(row: Row, answer: KnownAnswer, result: ExerciseResult) -> None:
    """Check that the answer passes with all points, and that advice names it and is about its policy only.

    An answer that only breaks `device` has no policy here: on the CPU it shows no advice.
    """
    if result.outcome != "passed" or result.score != result.points:
        row.problems.append(f"policy {answer.id} is {_why(result)} with {result.score} points")
    if not answer.policy:
        return
    row.policies += 1
    shown = {one.policy for one in result.advice}
    named = {one.policy for one in result.advice if answer.id in one.mistakes}
    row.advised += int(named == shown == {answer.policy})
    if not named:
        row.problems.append(f"policy {answer.id} has no advice with its name")
    if other := shown - {answer.policy}:
        row.problems.append(f"policy {answer.id} has advice about {', '.join(sorted(other))} too")


def _check_other_device(row: Row, other: Engine, assignment: Assignment, exercise: Exercise) -> None:
    """Check that right answers pass on the other device, and that answers that break `device` fail there, with a line
    named unless the level is 0. Other policies are not graded again: their advice shows on the CPU already.
    """
    device = other.options.device
    right = {"the reference": _graded(other, assignment, assignment.source, exercise.name)}
    variants = [a for a in assignment.variants(exercise.name) if a.kind != "trivial"]
    right |= {f"variant {a.id}": _answer(other, assignment, a) for a in variants}
    wrong = {what: result for what, result in right.items() if result.outcome != "passed"}
    row.problems += [f"{what} on {device} is {_why(result)}" for what, result in wrong.items()]
    for answer in assignment.mistakes(exercise.name):
        if answer.breaks == DEVICE:
            row.device_mistakes += 1
            result = _answer(other, assignment, answer)
            first = next((c for c in result.checks if c.outcome == "failed"), None)
            caught = first is not None and (first.line > 0) == (exercise.level > 0)
            row.device_caught += caught
            if not caught:
                row.problems.append(
                    f"device mistake {answer.id} on {device}: expected a failure that names a line; it is {_why(result)}"
                )


def _check_variant(row: Row, answer: KnownAnswer, result: ExerciseResult) -> None:
    if answer.kind == "trivial":
        row.trivial += 1
        row.refused += result.outcome == "failed" and result.score == 0
        if result.outcome != "failed" or result.score:
            row.problems.append(f"trivial answer {answer.id} is {_why(result)} with {result.score} points")
        return
    row.variants += 1
    row.accepted += result.outcome == "passed"
    if result.outcome != "passed":
        row.problems.append(f"variant {answer.id} is {_why(result)}")


def _check_block(row: Row, engine: Engine, assignment: Assignment, exercise: Exercise) -> None:
    if exercise.name not in given.BLOCKS:
        return
    allowed = structs.replace(exercise, given=(exercise.name,))
    # An import alone is no answer, so the block is assigned to its own name.
    source = f"from grader.given import {exercise.name}\n{exercise.name} = {exercise.name}\n"
    bundle = structs.replace(_bundle_of(engine, assignment), exercises=(allowed,))
    single = Engine([bundle], engine.launcher, workers=engine.context.workers)
    result = _graded(single, assignment, source, exercise.name)
    if result.outcome != "passed":
        row.problems.append(f"grader.given.{exercise.name} does not pass the exercise: {_why(result)}")


def _bundle_of(engine: Engine, assignment: Assignment) -> Bundle:
    return next(b for b in engine.bundles if b.assignment == assignment.name)


def _answer(engine: Engine, assignment: Assignment, answer: KnownAnswer) -> ExerciseResult:
    """Grade a known answer without the long trainings: these run for the reference alone."""
    quick = engine.with_options(quick=True)
    return _graded(quick, assignment, apply(answer, assignment.source), answer.of)


def _graded(engine: Engine, assignment: Assignment, source: str, exercise: str) -> ExerciseResult:
    name = f"{assignment.module}.py"
    report = engine.grade(Submission(Path(name), (Unit(name, source),)), [exercise])
    return next(result for result in report.exercises if result.name == exercise)


def _why(result: ExerciseResult) -> str:
    first = next((c for c in result.checks if c.outcome not in ("passed", "skipped")), None)
    detail = f"{first.id}: {first.message} {first.where}" if first else result.message
    return f"{result.outcome}" + (f" ({detail})" if detail else "")


CODE = re.compile(
    r"\b(torch|self|F|np|math)\.\w|\bnn\.\w+\(|\w\([^)]*\)\s*[.\[]|==|->|:=|\*\*|\w @ \w|\blambda\b|\breturn \w+\(|"
    r"`[^`]*[(=][^`]*`|\w\.\w+\(|\w\[[^\]]*:|\w+\(\w+=|\w_?\(\w|\$|\\[a-z]+"
)


def code_in(text: str) -> str:
    """Return the first piece of code in a text; "" if there is none."""
    found = CODE.search(text)
    return found[0] if found else ""

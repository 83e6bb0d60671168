"""Prove that the course is right.

Solutions pass, stubs are not started, known mistakes are caught and named, right variants pass, trivial answers get
nothing, building blocks pass as answers, and hints and sentences about mistakes contain no code. Each process of a pool
verifies some of the exercises with its own workers.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path

from msgspec import structs

from grader import given
from grader.authoring.bank import DEVICE, KnownAnswer, apply
from grader.authoring.content import Assignment, check_needs, read_all
from grader.authoring.recordings import record_all
from grader.bundle.files import load_all, save
from grader.bundle.model import Bundle, Exercise
from grader.cases.draw import PUBLIC_SEED
from grader.diagnosis.signature import ANY
from grader.engine.devices import launcher_for
from grader.engine.engine import Engine
from grader.engine.grading import GradingOptions
from grader.engine.process_pool import ProcessPool
from grader.intake.read import Submission, Unit
from grader.report.model import ExerciseResult
from grader.sandbox.choose import choose
from grader.support.code import definitions, stub
from grader.support.errors import UsageError
from grader.support.files import owned
from grader.support.i18n import _

# Exceptions which suggest that the code of a known mistake has a bug of its own.
SLIPS = {
    "TypeError",
    "AttributeError",
    "NameError",
    "UnboundLocalError",
    "ImportError",
    "ModuleNotFoundError",
}


def verify(
    solutions: Path,
    *,
    device: str = "",
    jobs: int = 1,
    seed: str = PUBLIC_SEED,
    only: Sequence[str] = (),
    report: Callable[[str], None] = lambda sentence: None,
) -> Iterator[Row]:
    """Yield a row per exercise, in the order of the course. `only`: names of exercises or assignments.

    `device`: another device, on which right answers must pass too; none if empty. `jobs`: processes at a time.
    `report`: called with a sentence whenever an exercise is done.
    Raises SandboxError if a process or its sandbox fails, UsageError if the course cannot be read or recorded, and
    UsageError for an unknown name.
    """
    course = read_all(solutions)
    check_needs(course)
    wanted = _wanted(course, only)
    assignments = list({assignment.name: assignment for assignment, _name in wanted}.values())
    tasks = [(assignment.name, name) for assignment, name in sorted(wanted, key=_cost, reverse=True)]
    # The prefix has this process's id, so that a later run can remove what a killed one left.
    prefix = owned(Path(tempfile.gettempdir()), "headway")
    rows: dict[str, Row] = {}
    with tempfile.TemporaryDirectory(prefix=prefix) as recorded:
        for bundle in record_all(assignments, seed):
            save(bundle, Path(recorded, bundle.assignment))
        shared = solutions, Path(recorded), device
        with ProcessPool(min(jobs, len(wanted)), _verifying, *shared) as processes:
            for (_assignment_name, name), row in processes.results(tasks):
                rows[name] = row
                report(_("{name} is done, {n} of {all}").format(name=name, n=len(rows), all=len(tasks)))
    yield from (rows[name] for _assignment, name in wanted)


def _wanted(assignments: Sequence[Assignment], only: Sequence[str]) -> list[tuple[Assignment, str]]:
    out, used = [], set()
    for assignment in assignments:
        groups = {assignment.name, assignment.name.split("_")[0], assignment.module}
        for name in (exercise.name for exercise in assignment.exercises):
            asked = {name, *groups} & {one.rstrip("/") for one in only}
            used |= asked
            if asked or not only:
                out.append((assignment, name))
    for one in only:
        if one.rstrip("/") not in used:
            pairs = _wanted(assignments, ())
            known = [name for assignment, exercise in pairs for name in (exercise, assignment.name)]
            if near := get_close_matches(one, known, n=1):
                says = _("there is no exercise {name}; did you mean {near}?")
                raise UsageError(says.format(name=one, near=near[0]))
            raise UsageError(_("there is no exercise {name}; `grader` lists them all").format(name=one))
    return out


def _cost(wanted: tuple[Assignment, str]) -> tuple[float, int]:
    """Return the seconds of the exercise's time limit, and the number of its known answers."""
    assignment, name = wanted
    known = (*assignment.mistakes(name), *assignment.mutants(name), *assignment.variants(name))
    return assignment.exercise(name).limits.wall_seconds, len(known)


@contextmanager
def _verifying(solutions: Path, recorded: Path, device: str) -> Iterator[Callable[[tuple[str, str]], Row]]:
    """Read the recorded course in each process of the pool; yield the function that verifies one exercise."""
    with ExitStack() as opened:
        launcher = opened.enter_context(closing(choose()))
        bundles = load_all(recorded)
        options = GradingOptions(reuse_worker=True)  # all sources are trusted
        engine = opened.enter_context(closing(Engine(bundles, launcher, options)))
        other = None
        if device:
            device_launcher = opened.enter_context(closing(launcher_for(device)))
            # The long trainings run on the CPU alone.
            options = replace(options, device=device, quick=True)
            other = opened.enter_context(closing(Engine(bundles, device_launcher, options)))
        assignments = {assignment.name: assignment for assignment in read_all(solutions)}
        yield lambda task: verify_exercise(engine, other, assignments[task[0]], task[1])


@dataclass
class Row:
    """The findings for one exercise.

    The columns count answers that must fail ("caught": mistakes without policies, their other forms, and mutants), be
    named by the diagnosis ("named": the same), pass ("right"), get no points ("trivial"), fail on another device only,
    with a line ("device"), or pass with advice about their policy alone ("advice").
    """

    assignment: str
    exercise: str
    facets: Counter[str] = field(default_factory=Counter)  # facet → number of its checks
    known: Counter[str] = field(default_factory=Counter)  # column → number of answers
    met: Counter[str] = field(default_factory=Counter)  # column → of these: as they must be
    problems: list[str] = field(default_factory=list)

    def count(self, column: str, is_met: bool, problem: str = "") -> None:
        """Count one answer in a column, and note the problem if it is not as it must be."""
        self.known[column] += 1
        self.met[column] += is_met
        if problem and not is_met:
            self.problems.append(problem)


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
            check = _check_policy if answer.kind == "policy" else _check_mistake
            check(row, answer, _answer(engine, assignment, form))
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
    caught = result.outcome == "failed"
    row.count("caught", caught, f"mistake {answer.id} is {_why(result)}")
    named = caught and any(answer.id in names for names in result.diagnosis.alternatives)
    has_table = caught and result.diagnosis.kind != "none"  # of known mistakes
    row.count("named", named, f"mistake {answer.id} is caught and not named" if has_table else "")


def _check_policy(row: Row, answer: KnownAnswer, result: ExerciseResult) -> None:
    """Check that the answer passes with all points, and that advice names it and is about its policy only.

    An answer that only breaks `device` has no policy here: on the CPU it shows no advice.
    """
    if result.outcome != "passed" or result.score != result.points:
        row.problems.append(f"policy {answer.id} is {_why(result)} with {result.score} points")
    if not answer.policy:
        return
    shown = {one.policy for one in result.advice}
    named = {one.policy for one in result.advice if answer.id in one.mistakes}
    row.count("advice", named == shown == {answer.policy})
    if not named:
        row.problems.append(f"policy {answer.id} has no advice with its name")
    if other := shown - {answer.policy}:
        row.problems.append(f"policy {answer.id} has advice about {', '.join(sorted(other))} too")


def _check_variant(row: Row, answer: KnownAnswer, result: ExerciseResult) -> None:
    if answer.kind == "trivial":
        refused = result.outcome == "failed" and not result.score
        says = f"trivial answer {answer.id} is {_why(result)} with {result.score} points"
        row.count("trivial", refused, says)
    else:
        row.count("right", result.outcome == "passed", f"variant {answer.id} is {_why(result)}")


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
            result = _answer(other, assignment, answer)
            first = next((c for c in result.checks if c.outcome == "failed"), None)
            caught = first is not None and (first.line > 0) == (exercise.level > 0)
            says = f"expected a failure that names a line; it is {_why(result)}"
            row.count("device", caught, f"device mistake {answer.id} on {device}: {says}")


def _check_block(row: Row, engine: Engine, assignment: Assignment, exercise: Exercise) -> None:
    if exercise.name not in given.BLOCKS:
        return
    allowed = structs.replace(exercise, given=(*exercise.given, exercise.name))
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
    """Grade a known answer without the long trainings and the demos: these run for the reference alone."""
    quick = engine.with_options(quick=True)
    return _graded(quick, assignment, definitions(apply(answer, assignment.source)), answer.of)


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

"""One of the processes that grade: its own launcher, engine and reader of the store. It writes nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from multiprocessing.connection import Connection
from pathlib import Path

from grader.bundle.files import load_all
from grader.bundle.model import Bundle
from grader.classroom.archives import BadArchive
from grader.classroom.store import Store, Stored, StoreKey
from grader.engine.engine import Engine
from grader.engine.options import GradingOptions
from grader.intake.names import read_names
from grader.intake.read import Blocked, Submission, shown, submission_from
from grader.report.model import ExerciseResult
from grader.sandbox.base import SandboxError
from grader.sandbox.choose import choose
from grader.support.i18n import _
from grader.support.sanitize import sanitize


@dataclass(frozen=True)
class Plan:
    """What all of a run's processes have in common."""

    bundles: Path  # the folder of the recorded cases
    store: Path
    key: StoreKey
    only: tuple[str, ...] = ()
    regrade: bool = False
    warm: str = "none"


@dataclass(frozen=True)
class Task:
    """One file to grade, by its place in the list of all; `read` returns its content in the process that grades."""

    number: int
    file: Path
    read: Callable[[], bytes]
    expected: tuple[str, ...] = ()


@dataclass(frozen=True)
class Graded:
    """What came of a task. `fresh` are the results that were not in the store; `problem` is a sentence."""

    results: tuple[ExerciseResult, ...] = ()
    fresh: tuple[ExerciseResult, ...] = ()
    content: str = ""
    size: int = 0  # characters of source
    problem: str = ""
    remarks: tuple[str, ...] = ()  # sentences for the instructor
    ours: bool = False  # the problem is the grader's own fault or the machine's


def serve(connection: Connection, plan: Plan) -> None:
    """Answer tasks with (number, Graded) until the other side closes; a fault of the sandbox is sent as text."""
    try:
        launcher = choose(plan.key.sandbox, warm=plan.warm)
    except SandboxError as error:
        connection.send(str(error))
        return
    options = GradingOptions(hidden=True, torch_version=version("torch"))
    engine = Engine(load_all(plan.bundles), launcher, options)
    store = Store(plan.store, plan.key)
    try:
        while True:
            task: Task = connection.recv()
            connection.send((task.number, grade(engine, store, plan, task)))
    except (EOFError, BrokenPipeError):
        pass  # nothing more is asked for
    finally:
        store.close()
        engine.close()
        launcher.close()


def grade(engine: Engine, store: Store, plan: Plan, task: Task) -> Graded:
    """Grade what is not known yet. A fault of ours costs one submission its marks for now, and no other anything."""
    try:
        data = task.read()
    except (OSError, BadArchive):
        return Graded(problem=_("{file} cannot be read").format(file=shown(task.file)), ours=True)
    try:
        submission = submission_from(task.file, data)
    except Blocked as error:
        results = blocked(engine.bundles, _wanted(engine, plan, task.expected), str(error))
        return Graded(tuple(results), (), hashlib.sha256(data).hexdigest(), len(data), str(error))
    size = sum(len(unit.source) for unit in submission.units)
    try:
        wanted = _wanted(
            engine, plan, (*task.expected, *engine.known(submission)) if not task.expected else task.expected
        )
        if not wanted:
            return Graded(content=submission.content, size=size, problem=_why_nothing(submission))
        stored = Stored() if plan.regrade else store.get(submission.content, wanted)
        missing = [name for name in wanted if name not in stored.results]
        fresh = engine.grade(submission, missing).exercises if missing else ()
    except Exception as error:
        said = _("the grader failed: {error}").format(error=f"{type(error).__name__}: {error}")
        engine.close()
        return Graded(content=submission.content, size=size, problem=said[:300], ours=True)
    found = stored.results | {result.name: result for result in fresh}
    graded = tuple(found[name] for name in wanted)
    return Graded(graded, tuple(fresh), submission.content, size, remarks=stored.remarks)


def could_not(bundles: Sequence[Bundle], names: Sequence[str], why: str) -> list[ExerciseResult]:
    """Results that say that it was not the submission's fault."""
    return [
        ExerciseResult(e.name, b.assignment, "could_not_grade", None, e.points, _(e.title), why)
        for b in bundles
        for e in b.exercises
        if e.name in names
    ]


def blocked(bundles: Sequence[Bundle], names: Sequence[str], why: str) -> list[ExerciseResult]:
    """Results of a file that cannot be read as a submission, in the order of the course."""
    return [
        ExerciseResult(e.name, b.assignment, "blocked", 0.0, e.points, _(e.title), why)
        for b in bundles
        for e in b.exercises
        if e.name in names
    ]


def _why_nothing(submission: Submission) -> str:
    name = shown(submission.path)
    for unit, why in read_names(submission).broken.items():
        return _("{file} defines no exercise that is graded here; it does not parse ({unit}, {why})").format(
            file=name, unit=sanitize(unit), why=sanitize(why)
        )
    return _("{file} defines no exercise that is graded here").format(file=name)


def _wanted(engine: Engine, plan: Plan, names: Sequence[str]) -> list[str]:
    """In the order of the course."""
    return [
        e.name
        for b in engine.bundles
        for e in b.exercises
        if e.name in names and (not plan.only or e.name in plan.only)
    ]

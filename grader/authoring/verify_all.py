"""`grader verify` on all cores: each process verifies some of the exercises with its own workers."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from grader.authoring.content import Assignment, check_needs, read_all
from grader.authoring.recordings import record_all
from grader.authoring.verify import Row, verify_exercise
from grader.bundle.files import load_all, save
from grader.cases.draw import PUBLIC_SEED
from grader.engine.devices import launcher_for
from grader.engine.engine import Engine
from grader.engine.grading import GradingOptions
from grader.engine.process_pool import ProcessPool
from grader.sandbox.choose import choose
from grader.support.errors import UsageError
from grader.support.files import owned
from grader.support.i18n import _


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

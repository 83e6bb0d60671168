"""`grader verify` on all cores: exercises are shared out among processes, each with workers of its own."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from contextlib import contextmanager
from multiprocessing.shared_memory import SharedMemory
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any

import click

from grader.authoring.content import PUBLIC_SEED, Assignment, read_all
from grader.authoring.record import record_all
from grader.authoring.verify import Row, verified
from grader.bundle.files import dump, loads
from grader.engine.devices import launcher_for
from grader.engine.engine import Engine
from grader.engine.options import GradingOptions
from grader.engine.process_pool import pool
from grader.sandbox.base import SandboxError
from grader.sandbox.choose import choose
from grader.support.i18n import _

_proofs: list[Callable[[str, str], Row]] = []  # of this process: made once, by `_begin`
_faults: list[SandboxError] = []  # why `_begin` could not: told by the first that asks


def verify(
    solutions: Path,
    *,
    device: str = "",
    jobs: int = 1,
    seed: str = PUBLIC_SEED,
    only: Sequence[str] = (),
    tell: Callable[[str], None] = lambda name: None,
) -> Iterator[Row]:
    """A row for every exercise, in the order of the course. `only`: names of exercises or assignments.

    `device`: another one on which what is right must pass as well, and fails what breaks it; none if empty.
    Raises SandboxError where a process or its sandbox breaks down, ContentError for a course that cannot be read or recorded, UsageError for a name that is not there.
    """
    wanted = _wanted(read_all(solutions), only)
    assignments = list({assignment.name: assignment for assignment, _name in wanted}.values())
    recorded = pickle.dumps(
        [dump(bundle) for bundle in record_all(assignments, seed)]
    )  # as files would hold it
    with _shared(recorded) as name:
        yield from _shared_out(wanted, min(jobs, len(wanted)), (solutions, name, device), tell)


@contextmanager
def _shared(data: bytes) -> Iterator[str]:
    """The name of shared memory that holds the data. Nothing is left of it, even after a kill."""
    memory = SharedMemory(create=True, size=len(data))
    try:
        assert memory.buf is not None
        memory.buf[: len(data)] = data
        yield memory.name
    finally:
        memory.close()
        memory.unlink()


def _read(name: str) -> Any:
    """What was pickled there; the memory may be longer than that."""
    memory = SharedMemory(name)
    try:
        assert memory.buf is not None
        return pickle.loads(bytes(memory.buf))
    finally:
        memory.close()


def _wanted(assignments: Sequence[Assignment], only: Sequence[str]) -> list[tuple[Assignment, str]]:
    out, used = [], set()
    for assignment in assignments:
        groups = {assignment.name, assignment.name.split("_")[0], assignment.module}
        for name in (fields["name"] for fields in assignment.exercises):
            asked = {name, *groups} & {one.rstrip("/") for one in only}
            used |= asked
            if asked or not only:
                out.append((assignment, name))
    for one in only:
        if one.rstrip("/") not in used:
            raise click.UsageError(_("there is no exercise {name}; `grader` lists them all").format(name=one))
    return out


def _shared_out(
    wanted: Sequence[tuple[Assignment, str]],
    jobs: int,
    given: tuple[Path, str, str],
    tell: Callable[[str], None],
) -> Iterator[Row]:
    """The longest first; told as they end, given in order."""
    with pool(jobs, _begin, given) as processes:
        tasks = {
            processes.submit(_row, assignment.name, name): name
            for assignment, name in sorted(wanted, key=_answers, reverse=True)
        }
        for number, task in enumerate(as_completed(tasks), start=1):
            task.result()
            tell(_("{name} is done, {n} of {all}").format(name=tasks[task], n=number, all=len(tasks)))
    rows = {name: task.result() for task, name in tasks.items()}
    yield from (rows[name] for _assignment, name in wanted)


def _answers(wanted: tuple[Assignment, str]) -> tuple[float, int]:
    """What may take long comes first, then what has many answers."""
    assignment, name = wanted
    fields = next(fields for fields in assignment.exercises if fields["name"] == name)
    longest = float(fields.get("limits", {}).get("wall_seconds", 0))
    known = (*assignment.mistakes(name), *assignment.mutants(name), *assignment.variants(name))
    return longest, len(known)


def _begin(solutions: Path, memory: str, device: str) -> None:
    try:
        _prepare(solutions, memory, device)
    except SandboxError as fault:
        _faults.append(fault)


def _prepare(solutions: Path, memory: str, device: str) -> None:
    """In each process: workers, and the course as it was recorded, from shared memory of that name."""
    launcher = choose()
    other = launcher_for(device) if device else None
    bundles = [loads(*files) for files in _read(memory)]
    engine = Engine(bundles, launcher, GradingOptions(reuse_worker=True))  # all sources are trusted
    # Trainings that take longer are tried on the CPU alone.
    options = GradingOptions(device=device, reuse_worker=True, quick=True)
    there = None if other is None else Engine(bundles, other, options)
    for part in (engine, launcher, there, other):
        if part is not None:
            Finalize(None, part.close, exitpriority=1)
    assignments = {assignment.name: assignment for assignment in read_all(solutions)}
    _proofs.append(lambda assignment, name: verified(engine, there, assignments[assignment], name))


def _row(assignment: str, name: str) -> Row:
    if _faults:
        raise _faults[0]
    return _proofs[0](assignment, name)

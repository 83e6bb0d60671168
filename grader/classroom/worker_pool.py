"""A few processes that grade side by side. One that dies is replaced; its task is tried once more."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from types import TracebackType

from grader.classroom.worker_process import Graded, Plan, Task, serve
from grader.engine.process_pool import context, uninterrupted
from grader.sandbox.base import SandboxError
from grader.support.i18n import _

AHEAD = 2  # tasks that one process holds, so that it need not wait for the next
ATTEMPTS = 2
PATIENCE = 5.0  # seconds in which a process that is no longer asked ends by itself


class _Member:
    """The near side of one process."""

    def __init__(self, plan: Plan):
        self.connection: Connection
        self.connection, theirs = context.Pipe()
        self.tasks: deque[Task] = deque()
        self._process = context.Process(target=serve, args=(theirs, plan), daemon=True)
        with uninterrupted():
            self._process.start()
        theirs.close()

    def give(self, task: Task) -> None:
        self.tasks.append(task)
        with suppress(OSError):  # it is gone: noticed when it is read from
            self.connection.send(task)

    def end(self, patience: float = 0.0) -> None:
        """Wait a while for it to end by itself, then at once: its fork-server and workers end with it."""
        self.connection.close()
        self._process.join(patience)
        self._process.terminate()
        self._process.join()


class Crew:
    """Up to `jobs` processes, started as they are needed. Use as a context."""

    def __init__(self, plan: Plan, jobs: int):
        self._plan = plan
        self._jobs = jobs
        self._members: list[_Member] = []
        self._lost: dict[int, int] = {}
        # Each process has a core; idle threads would spin on another's.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

    def __enter__(self) -> Crew:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for member in self._members:
            member.end(0.0 if error else PATIENCE)

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[int, Graded]]:
        """Grade everything; answers come as they are ready. Raises SandboxError if the tier cannot be had."""
        waiting = iter(tasks)
        for _n in range(self._jobs * AHEAD):
            self._hand_out(waiting)
        while busy := [member for member in self._members if member.tasks]:
            ready = wait([member.connection for member in busy])
            for member in [m for m in busy if m.connection in ready]:
                answer = self._answer(member)
                self._hand_out(waiting)
                if answer is not None:
                    yield answer

    def _hand_out(self, waiting: Iterator[Task]) -> None:
        """The next task goes to whoever has least to do."""
        task = next(waiting, None)
        if task is None:
            return
        free = min(self._members, key=lambda member: len(member.tasks), default=None)
        if (free is None or free.tasks) and len(self._members) < self._jobs:
            free = _Member(self._plan)
            self._members.append(free)
        assert free is not None
        free.give(task)

    def _answer(self, member: _Member) -> tuple[int, Graded] | None:
        try:
            said = member.connection.recv()
        except (EOFError, OSError):
            return self._replaced(member)
        if isinstance(said, str):
            raise SandboxError(said)
        number, graded = said
        member.tasks = deque(task for task in member.tasks if task.number != number)
        return number, graded

    def _replaced(self, member: _Member) -> tuple[int, Graded] | None:
        """Start another process in place of a dead one. A task that has killed two is given up."""
        self._members.remove(member)
        member.end()
        tasks, given_up = list(member.tasks), None
        first = tasks[0].number
        self._lost[first] = self._lost.get(first, 0) + 1
        if self._lost[first] == ATTEMPTS:
            given_up = first, Graded(problem=_("the process that graded it ended, twice"), ours=True)
            tasks = tasks[1:]
        if tasks:
            successor = _Member(self._plan)
            self._members.append(successor)
            for task in tasks:
                successor.give(task)
        return given_up

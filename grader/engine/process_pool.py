"""A pool of processes for the grader's own work: the parent replaces one that exits or exceeds its time.

The parent decides when a child ends. Children ignore Ctrl-C, except on Windows.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from types import ModuleType
from typing import Any, Generic, Literal, TypeVar

from grader.sandbox.base import SandboxError
from grader.support.environment import environment_variable
from grader.support.i18n import _

if sys.platform == "win32":
    from multiprocessing.connection import PipeConnection

    Connection = PipeConnection
else:
    from multiprocessing.connection import Connection as Connection

STOP_SECONDS = 5.0  # for a process without a task to end by itself

context = multiprocessing.get_context("spawn")  # a fork would inherit threads and locks

T = TypeVar("T")
R = TypeVar("R")
Allow = Callable[[float], None]  # called in a process: "my next message comes within so many seconds"
# Called in each process as setup(allow, *args).
Setup = Callable[..., AbstractContextManager[Callable[[T], R]]]


@dataclass(frozen=True)
class Lost:
    """Why a task has no result: its process exited, or exceeded its time limit."""

    why: Literal["exited", "timeout"]


class _Child:
    """The parent's side of one process."""

    def __init__(self, setup: Setup[Any, Any], args: tuple[Any, ...]):
        self.connection: Connection[Any, Any]
        self.connection, theirs = context.Pipe()
        self.task: int | None = None
        self.deadline = float("inf")
        self._process = context.Process(target=_serve, args=(theirs, setup, args), daemon=True)
        # The process imports nothing from the current folder, where submissions may be.
        with uninterrupted(), environment_variable("PYTHONSAFEPATH", "1"), _without_main():
            self._process.start()
        theirs.close()

    def submit(self, number: int, task: object) -> None:
        self.task, self.deadline = number, float("inf")
        with suppress(OSError):  # the process has exited: noticed when its answer is read
            self.connection.send(task)

    def stop(self, seconds: float = 0.0) -> None:
        """Wait up to `seconds` for the process to end by itself, then terminate it.

        If it runs a worker server, that server and its workers end with it.
        """
        self.connection.close()
        self._process.join(seconds)
        self._process.terminate()
        self._process.join()


class ProcessPool(Generic[T, R]):
    """Up to `jobs` processes, started when they are needed. Use it as a context manager.

    setup: a function of a module, called once in each process as `setup(allow, *args)`. It returns a context
    manager of the function that turns a task into a result. That function may call `allow(seconds)` to limit
    the time until its result or its next call of `allow`; a process that takes longer is killed.
    attempts: how often a task is tried if its process exits.
    """

    def __init__(self, jobs: int, setup: Setup[T, R], *args: Any, attempts: int = 1):
        self._jobs, self._setup, self._args, self._attempts = jobs, setup, args, attempts
        self._children: list[_Child] = []

    def __enter__(self) -> ProcessPool[T, R]:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close(0.0 if any(error) else STOP_SECONDS)

    def close(self, seconds: float = STOP_SECONDS) -> None:
        """End the processes; each has this long to end by itself. The next task starts others. Safe to call twice."""
        children, self._children = self._children, []
        for child in children:
            child.connection.close()  # all may end at the same time
        for child in children:
            child.stop(seconds)

    def results(self, tasks: Iterable[T]) -> Iterator[tuple[T, R]]:
        """Yield each task with its result, as soon as it is ready. Raises SandboxError if a process is lost."""
        for task, result in self.run(tasks):
            if isinstance(result, Lost):
                raise SandboxError(
                    _("a process of the grader was killed, perhaps because memory ran out; try again")
                )
            yield task, result

    def run(self, tasks: Iterable[T]) -> Iterator[tuple[T, R | Lost]]:
        """Yield each task with its result, or how it was lost, as soon as it is ready.

        Raises what `setup` or a task raises.
        """
        waiting, open_tasks, tries = enumerate(tasks), dict[int, T](), dict[int, int]()
        while True:
            self._dispatch(waiting, open_tasks)
            busy = [child for child in self._children if child.task is not None]
            if not busy:
                return
            for child in _ready(busy):
                number = child.task
                assert number is not None
                kind, value = _receive(child)
                if isinstance(value, Lost):
                    self._children.remove(child)
                    child.stop()
                    tries[number] = tries.get(number, 0) + 1
                    if value.why == "exited" and tries[number] < self._attempts:
                        self._start().submit(number, open_tasks[number])
                        continue
                if kind == "error":
                    raise value
                if kind == "allow":
                    child.deadline = time.monotonic() + value
                    continue
                child.task = None
                self._dispatch(waiting, open_tasks)  # the process works while the caller uses the result
                yield open_tasks.pop(number), value

    def _dispatch(self, waiting: Iterator[tuple[int, T]], open_tasks: dict[int, T]) -> None:
        while True:
            idle = next((child for child in self._children if child.task is None), None)
            if idle is None and len(self._children) == self._jobs:
                return
            number, task = next(waiting, (None, None))
            if number is None or task is None:
                return
            open_tasks[number] = task
            (idle or self._start()).submit(number, task)

    def _start(self) -> _Child:
        child = _Child(self._setup, self._args)
        self._children.append(child)
        return child


def _ready(busy: list[_Child]) -> list[_Child]:
    """Wait for a message or for the first deadline. Return the processes that have a message or exceed their time."""
    left = min(child.deadline for child in busy) - time.monotonic()
    readable = wait([child.connection for child in busy], None if left == float("inf") else max(left, 0.0))
    now = time.monotonic()
    return [child for child in busy if child.connection in readable or child.deadline <= now]


def _receive(child: _Child) -> tuple[str, Any]:
    try:
        return child.connection.recv() if child.connection.poll() else ("result", Lost("timeout"))
    except (EOFError, OSError):
        return "result", Lost("exited")


# ---- in the process


def _serve(connection: Connection[Any, Any], setup: Setup[Any, Any], args: tuple[Any, ...]) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        with setup(lambda seconds: connection.send(("allow", seconds)), *args) as work:
            while True:
                connection.send(("result", work(connection.recv())))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the parent needs no more results
    except Exception as error:
        with suppress(OSError):
            connection.send(("error", _portable(error)))


def _portable(error: Exception) -> Exception:
    """Return the exception with its traceback as a note; a SandboxError if it cannot be pickled."""
    try:
        error.add_note(traceback.format_exc())
        pickle.loads(pickle.dumps(error))
        return error
    except Exception:
        return SandboxError(f"{type(error).__name__}: {error}")


def _end_with_parent() -> None:
    """End this process when the parent ends, even if it is killed. Otherwise a task would run to its end."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


# ---- starting processes


@contextmanager
def _without_main() -> Iterator[None]:
    """Hide `__main__`. Spawned processes would import it again, and for `nbgrader` that takes seconds."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Processes that start in this block ignore Ctrl-C; this process receives it after the block.

    On Windows, only delay Ctrl-C in this process.
    """
    if sys.platform == "win32":  # Ctrl-C reaches every process of the console
        with _delayed_interrupt():
            yield
        return
    resource_tracker.ensure_running()  # if it started later, in the block, it would unblock the signal
    with _delayed_interrupt():
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # the processes inherit this mask
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _delayed_interrupt() -> Iterator[None]:
    """Delay Ctrl-C until the end of the block.

    A signal mask alone is not enough. It is per thread, so numpy's threads would still receive Ctrl-C.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: received.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if received:
            signal.raise_signal(signal.SIGINT)

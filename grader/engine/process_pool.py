"""A pool of processes for the grader's own work: one that exits or exceeds the time of its task is replaced.

A process reads pickled tasks from its standard input and writes pickled results to its standard output. It has a
session of its own, so it gets no Ctrl-C: the parent decides when it ends. It ends if its input ends.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from itertools import islice
from socket import socket
from threading import TIMEOUT_MAX, Thread, Timer
from typing import IO, Any, Generic, Literal, Self, TypeVar, cast

from grader.sandbox.base import SandboxError
from grader.support.i18n import _

STOP_SECONDS = 5.0  # for a process without a task to end by itself
MAX_STARTS = 3  # processes in a row that end before they begin a task
# PYTHONSAFEPATH: it imports nothing from the current folder, where submissions may be.
_PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from grader.engine.process_pool import serve; serve()"
_KILLED = _("a process of the grader was killed, perhaps because memory ran out; try again")

T = TypeVar("T")
R = TypeVar("R")
Setup = Callable[..., AbstractContextManager[Callable[[T], R]]]  # called in each process as setup(*args)


@dataclass(frozen=True)
class Lost:
    """Why a task has no result: its process exited, or exceeded its time limit."""

    why: Literal["exited", "timeout"]


class _Process:
    """The parent's side of one process, which works on one task at a time."""

    def __init__(self, setup: object, args: Sequence[object], lent: socket | None):
        kept = [lent.fileno()] if lent else []
        self.popen = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, *filter(None, sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONSAFEPATH": "1"},
            pass_fds=kept,
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),  # the same, on Windows
        )
        if lent:
            lent.close()
        self._input, self._output = cast(IO[bytes], self.popen.stdin), cast(IO[bytes], self.popen.stdout)
        self._send((setup, (*args, *kept)))

    def ask(self, task: object, seconds: float) -> tuple[str, Any]:
        """Return what happened, and a value: "result", "error" with an exception, "lost" with a reason, or "not begun"."""
        self._send(task)
        answer = self._receive()
        if answer is None or answer[0] != "begins":
            return answer or ("not begun", None)
        ends = time.monotonic() + seconds
        timer = Timer(seconds, self.popen.kill)
        timer.start()
        answer = self._receive()
        timer.cancel()
        return answer or ("lost", "exited" if time.monotonic() < ends else "timeout")

    def _send(self, message: object) -> None:
        data = pickle.dumps(message)
        with suppress(OSError):  # the process has ended
            self._input.write(data)
            self._input.flush()

    def _receive(self) -> tuple[str, Any] | None:
        try:
            return cast(tuple[str, Any], pickle.load(self._output))
        except Exception:  # it ends, perhaps in the middle of a result
            return None

    def close(self) -> None:
        """Let the process end by itself."""
        with suppress(OSError):
            self._input.close()

    def end(self, seconds: float = 0.0) -> None:
        """End the process, and a worker server that it runs. seconds: for it to end by itself."""
        self.close()
        with suppress(subprocess.TimeoutExpired):
            self.popen.wait(seconds)
        self.popen.kill()
        self.popen.wait()
        self._output.close()


class ProcessPool(Generic[T, R]):
    """Up to `jobs` processes, started when they are needed. Use it as a context manager.

    setup: a function of a module, called once in each process as `setup(*args)`. It returns a context manager of the
    function that turns a task into a result. seconds: the time limit of a task. lend: makes a socket for each process,
    which inherits it; `setup` gets its descriptor as its last argument.
    """

    def __init__(
        self,
        jobs: int,
        setup: Setup[T, R],
        *args: Any,
        seconds: Callable[[T], float] = lambda _: TIMEOUT_MAX,
        lend: Callable[[], socket | None] = lambda: None,
    ):
        self._jobs, self._setup, self._args, self._seconds, self._lend = jobs, setup, args, seconds, lend
        self._idle: list[_Process] = []
        self._busy: list[_Process] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the processes. The next task starts others. Safe to call twice."""
        for process in [*self._busy]:
            process.popen.kill()
        idle, self._idle = self._idle, []
        for process in idle:
            process.close()  # all may end at the same time
        for process in idle:
            process.end(STOP_SECONDS)

    def results(self, tasks: Iterable[T]) -> Iterator[tuple[T, R]]:
        """Yield each task with its result, as soon as it is ready. Raises SandboxError if a task is lost."""
        for task, result in self.run(tasks):
            if isinstance(result, Lost):
                raise SandboxError(_KILLED)
            yield task, result

    def run(self, tasks: Iterable[T]) -> Iterator[tuple[T, R | Lost]]:
        """Yield each task with its result, or how it was lost, as soon as it is ready.

        Raises what `setup` or a task raises, and SandboxError if MAX_STARTS processes end before they begin a task.
        """
        waiting, working = iter(tasks), dict[Future[R | Lost], T]()

        def start_more() -> None:
            for task in islice(waiting, self._jobs - len(working)):
                process = self._idle.pop() if self._idle else None
                working[threads.submit(self._result, task, process)] = task

        with ThreadPoolExecutor(self._jobs) as threads:
            try:
                start_more()
                while working:
                    ready = wait(working, return_when=FIRST_COMPLETED).done.pop()
                    task = working.pop(ready)
                    start_more()  # the processes work while the caller uses the result
                    yield task, ready.result()
            finally:  # after an exception, threads wait for their processes
                while wait(working, 0.1).not_done:
                    self.close()

    def _result(self, task: T, process: _Process | None) -> R | Lost:
        for _start in range(MAX_STARTS):
            process = process or _Process(self._setup, self._args, self._lend())
            self._busy.append(process)
            what, value = process.ask(task, self._seconds(task))
            self._busy.remove(process)
            if what == "result":
                self._idle.append(process)
                return cast(R, value)
            process.end()
            if what == "error":
                raise value
            if what == "lost":
                return Lost(value)
            process = None  # it ended before it began the task
        raise SandboxError(_KILLED)


# ---- in the process


def serve() -> None:
    """Work on tasks until there are no more, or the parent has ended."""
    tasks, results = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # what is printed here is no result
    Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()

    def send(what: str, value: object) -> None:
        results.write(pickle.dumps((what, value)))
        results.flush()

    try:
        setup, args = pickle.load(tasks)
        with setup(*args) as work:
            while tasks.peek(1):
                task = pickle.load(tasks)
                send("begins", None)
                send("result", work(task))
    except Exception as error:
        error.add_note(traceback.format_exc())
        with suppress(OSError):
            send("error", error)


def _end_with(parent: int) -> None:
    """End this process soon after its parent. Otherwise a task would run to its end."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)

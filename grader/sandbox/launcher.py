"""The launcher of strict and landlock: a worker server, restarted when it dies, and workers forked ahead."""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import Any

from grader.sandbox.base import FORK_SECONDS, START_SECONDS, Limits, Program, SandboxError
from grader.sandbox.server import SandboxedProcess, Server, ServerEndedError
from grader.worker.preload import LEVELS

if sys.platform != "linux":
    raise ImportError("this module needs Linux")

_ATTEMPTS = 3


class SandboxLauncher:
    """Starts workers of strict or landlock. The constructor returns at once, and the server starts in the
    background; `start` waits for it. May be used from several threads.

    `ready`: how many workers are forked ahead, with the most recent limits, so that a start need not
    wait for the fork. `warm` is the level at the start; see the method `warm`. Each worker is used once.
    """

    def __init__(
        self, tier: str, program: Program | None = None, *, ready: int = 1, warm: str = "none"
    ) -> None:
        self.tier = tier
        self._program = program or Program()
        self._size = ready
        self._level = "none"
        self._lock = threading.Lock()
        self._pool: list[SandboxedProcess] = []
        # Under root, the number of a worker decides its user. A random first number makes it rare that two launchers
        # share users.
        self._number = int.from_bytes(os.urandom(2), "big")
        self._closed = False
        self._server = Server(self.tier, self._program)
        self.warm(warm)
        self._refill(Limits())

    def __enter__(self) -> SandboxLauncher:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def start(self, limits: Limits) -> SandboxedProcess:
        """Return a fresh confined worker. Raises SandboxError if any step of the tier fails."""
        for _ in range(_ATTEMPTS):
            with self._lock:
                server = self._living_server()
                worker = self._take(limits)
                self._refill(limits)
            try:
                server.wait_until_ready(time.monotonic() + START_SECONDS)
                worker.wait_until_ready(time.monotonic() + FORK_SECONDS)
            except ServerEndedError:
                worker.close()
                continue
            except BaseException:
                worker.close()
                raise
            return worker
        raise SandboxError(
            f"the worker server exited {_ATTEMPTS} times; its last output: {self._server.last_output_line()}"
        )

    def warm(self, level: str) -> None:
        """Have the server import more of torch, without waiting for it; see `preload`.

        Workers requested meanwhile wait a second or two, except those forked ahead.
        """
        if level not in LEVELS:
            raise ValueError(f"{level!r} is no warm level: choose one of {', '.join(LEVELS)}")
        with self._lock:
            if level != self._level:
                self._level = level
                self._server.warm(level)

    def close(self) -> None:
        """Stop everything this launcher started. Safe to call twice."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._server.close()
            self._drop_pool()

    def _living_server(self) -> Server:
        if self._closed:
            raise SandboxError("start a worker: the launcher is closed")
        if not self._server.is_alive():
            self._drop_pool()
            self._server.close()
            self._server = Server(self.tier, self._program)
            if self._level != "none":
                self._server.warm(self._level)
        return self._server

    def _take(self, limits: Limits) -> SandboxedProcess:
        """Take a suitable worker from the pool, else ask for a new one. Close the workers that are not suitable."""
        pool, self._pool = self._pool, []
        fitting: SandboxedProcess | None = None
        for worker in pool:
            if not self._fits(worker, limits):
                worker.close()
            elif fitting is None:
                fitting = worker
            else:
                self._pool.append(worker)
        return fitting or self._ask(limits)

    def _fits(self, worker: SandboxedProcess, limits: Limits) -> bool:
        """Whether a worker has the right limits, is alive, and was forked at the current warm level."""
        if worker.limits != limits or not worker.is_fresh():
            return False
        return worker.level in ("", self._server.level)  # "": not forked yet

    def _refill(self, limits: Limits) -> None:
        while len(self._pool) < self._size:
            self._pool.append(self._ask(limits))

    def _ask(self, limits: Limits) -> SandboxedProcess:
        self._number += 1
        return SandboxedProcess(self._server.control, self._number, limits)

    def _drop_pool(self) -> None:
        for worker in self._pool:
            worker.close()
        self._pool = []

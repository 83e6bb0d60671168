"""The launcher of strict and landlock: a worker server, restarted when it dies, and workers forked ahead."""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import Any

from grader.sandbox.base import FORK_SECONDS, START_SECONDS, Limits, Program, SandboxError
from grader.sandbox.server import SandboxedProcess, Server
from grader.worker.preload import LEVELS

if sys.platform != "linux":
    raise ImportError("this module needs Linux")

_ATTEMPTS = 3


class SandboxLauncher:
    """Starts workers of strict or landlock. The constructor returns at once, and the server starts in the
    background; `start` waits for it. May be used from several threads.

    `ahead`: a worker is forked ahead, with the most recent limits, so that a start need not
    wait for the fork. `warm` is the level at the start; see the method `warm`. Each worker is used once.
    """

    def __init__(
        self, tier: str, program: Program | None = None, *, ahead: bool = True, warm: str = "none"
    ) -> None:
        self.tier = tier
        self._program = program or Program()
        self._ahead = ahead
        self._level = "none"
        self._lock = threading.Lock()
        self._spare: SandboxedProcess | None = None
        # Under root, the number of a worker decides its user. A random first number makes it rare that two launchers
        # share users.
        self._number = int.from_bytes(os.urandom(2), "big")
        self._closed = False
        self._server = Server(self.tier, self._program)
        self.warm(warm)
        if ahead:
            self._spare = self._ask(Limits())

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
                self._spare = self._ask(limits) if self._ahead else None
            try:
                is_up = server.wait_until_ready(time.monotonic() + START_SECONDS)
                if is_up and worker.wait_until_ready(time.monotonic() + FORK_SECONDS):
                    return worker
            except BaseException:
                worker.close()
                raise
            worker.close()
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
            self._drop_spare()

    def _living_server(self) -> Server:
        if self._closed:
            raise SandboxError("start a worker: the launcher is closed")
        if not self._server.is_alive():
            self._drop_spare()
            self._server.close()
            self._server = Server(self.tier, self._program)
            if self._level != "none":
                self._server.warm(self._level)
        return self._server

    def _take(self, limits: Limits) -> SandboxedProcess:
        spare = self._spare
        levels = ("", self._server.level)  # "": not forked yet
        if spare and spare.limits == limits and spare.is_fresh() and spare.level in levels:
            return spare
        self._drop_spare()
        return self._ask(limits)

    def _ask(self, limits: Limits) -> SandboxedProcess:
        self._number += 1
        return SandboxedProcess(self._server.control, self._number, limits)

    def _drop_spare(self) -> None:
        if self._spare is not None:
            self._spare.close()
            self._spare = None

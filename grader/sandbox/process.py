"""The parent's side of one worker: its pipes, its process descriptor, and its exit."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import sys
import time
from dataclasses import asdict
from typing import Any

from grader.sandbox import packets
from grader.sandbox.base import Exit, Limits, SandboxError
from grader.support.errors import GraderError

if sys.platform != "linux":
    raise ImportError("this module needs Linux")


class ServerEndedError(GraderError):
    """The server exited before the worker was ready; another server may work."""

    exit_status = 3


class SandboxedProcess:
    """A worker requested from a server. It can be used after `wait_until_ready`."""

    def __init__(self, control: socket.socket, number: int, limits: Limits) -> None:
        self.limits = limits
        self.level = ""  # the warm level of the server at the fork; "" before it
        self._exit: Exit | None = None
        self._failure = ""
        self._pidfd = -1
        self._ready = False
        self._gone = False  # whether the server has closed its side of `_status`
        self._closed = False
        request, self.to_worker = os.pipe()
        self.from_worker, reply = os.pipe()
        self.log, self.log_writer = os.pipe()
        self._status, status = packets.pair()
        try:
            message = {"number": number, "limits": asdict(limits)}
            packets.send(control, message, (request, reply, self.log_writer, status.fileno()))
        except OSError:
            self._gone = True
        finally:
            status.close()
            for descriptor in (request, reply):
                os.close(descriptor)

    def wait_until_ready(self, deadline: float) -> None:
        """Wait until the worker is confined. Raises SandboxError with the step that failed, or ServerEndedError."""
        while not (self._ready and self._pidfd >= 0):
            if self._failure:
                raise SandboxError(self._failure)
            if self._gone or self._exit is not None:
                raise ServerEndedError
            if not self._receive(deadline):
                raise SandboxError("confine a worker: it took too long")

    def is_fresh(self) -> bool:
        """Return whether the worker can still be used: it has not exited, and the server still reports on it."""
        while not self._gone and self._receive(0.0):
            continue
        return not self._gone and self._exit is None

    def kill(self) -> None:
        """Kill the worker and all it started. Safe to call twice.

        In `strict` a namespace dies with its first process; in `landlock` the worker cannot start a process.
        """
        if self._pidfd >= 0 and self._exit is None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def wait(self, timeout: float = 5.0) -> Exit:
        """Wait for the exit. Raises SandboxError after `timeout` seconds, and if the server exited first.

        When the server exits, its workers are killed. Student code cannot cause this.
        """
        deadline = time.monotonic() + timeout
        while self._exit is None:
            if self._gone:
                raise SandboxError("the worker server exited while a worker ran")
            if not self._receive(deadline):
                raise SandboxError(f"kill a worker: it still runs after {timeout:g} seconds")
        return self._exit

    def close(self) -> None:
        """Kill if needed, wait, and close the descriptors. Safe to call twice."""
        if self._closed:
            return
        self._closed = True
        # A worker without a process descriptor cannot be killed, but it exits when its pipe closes.
        for descriptor in (self.to_worker, self.from_worker, self.log, self.log_writer):
            os.close(descriptor)
        self.kill()
        if self._ready:
            with contextlib.suppress(SandboxError):
                self.wait()
        self._status.close()
        if self._pidfd >= 0:
            os.close(self._pidfd)

    def _receive(self, deadline: float) -> bool:
        """Receive a message about the worker, or the end of messages; False if none came until `deadline`."""
        poll = select.poll()
        poll.register(self._status, select.POLLIN)
        left = max(0.0, deadline - time.monotonic())
        if not poll.poll(left * 1000):
            return False
        received = packets.receive(self._status)
        if received is None:
            self._gone = True
        else:
            self._take(*received)
        return True

    def _take(self, message: dict[str, Any], descriptors: list[int]) -> None:
        if "failed" in message:
            self._failure = message["failed"]
        if "exit" in message:
            self._exit = Exit(**message["exit"])
        if "level" in message:
            self.level = message["level"]
            (self._pidfd,) = descriptors
        if "ready" in message:
            self._ready = True

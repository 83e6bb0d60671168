"""The parent's side of a worker server, and of a worker that it forked."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

import grader.sandbox
from grader.sandbox import packets, visible_paths
from grader.sandbox.base import Exit, Limits, Program, SandboxError
from grader.sandbox.remove_tree import remove_tree

if sys.platform != "linux":
    raise ImportError("this module needs Linux")

# Make a package `grader` from the folder in the first argument, without running its __init__.py.
_BOOTSTRAP = (
    "import sys, types; package = types.ModuleType('grader'); package.__path__ = [sys.argv[1]]; "
    "sys.modules['grader'] = package; from grader.sandbox.forkserver import main; main()"
)
_SLICE = 0.02  # seconds between two looks at whether the server is ready
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
# The server's environment has, of its parent's, only LD_LIBRARY_PATH.
_ENVIRONMENT = {
    "CUDA_VISIBLE_DEVICES": "",
    "HOME": "/nonexistent",
    "LC_ALL": "C.UTF-8",
    "MALLOC_ARENA_MAX": "4",  # each arena reserves 64 MiB of the worker's address space
}


class Server:
    """One running worker server. Its start takes a second; the constructor does not wait for it."""

    def __init__(self, tier: str, program: Program) -> None:
        self.level = "none"
        self._ready = self._ended = False
        self._leaves = ""  # a folder of the tier, removed in `close`; "" without one
        self.control, server_end = packets.pair()
        parent_alive_pipe, self._alive_pipe = os.pipe()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the server)
        package = str(Path(grader.sandbox.__file__).resolve().parents[1])
        libraries = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
        arguments = [package, str(server_end.fileno()), str(parent_alive_pipe), str(os.getpid())]
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-B", "-c", _BOOTSTRAP, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                pass_fds=(server_end.fileno(), parent_alive_pipe),
                env=dict.fromkeys(_ONE_THREAD, "1") | _ENVIRONMENT | libraries,
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            os.close(self._alive_pipe)
            self.control.close()
            raise SandboxError(f"start the server: {error}") from error
        finally:
            server_end.close()
            os.close(parent_alive_pipe)
        config = asdict(program) | {"tier": tier, "package": package}
        config |= {"sites": visible_paths.site_folders(), "temporary": tempfile.gettempdir()}
        with contextlib.suppress(OSError):  # it exited already; reported when a worker is requested
            packets.send(self.control, config)

    def wait_until_ready(self, deadline: float) -> bool:
        """Wait until the server can fork workers. Return False if it exited without a message: another may work.

        Polls, because another thread may receive the message. Raises SandboxError with the step that failed, or at the
        deadline (of `time.monotonic`).
        """
        while not self._ready and not self._ended:
            if time.monotonic() > deadline:
                raise SandboxError("start the server: it took too long")
            self._take_message(_SLICE)
        return self._ready

    def warm(self, level: str) -> None:
        """Ask for a warm level. Workers that are forked after the server has reached it have it, too."""
        with contextlib.suppress(OSError):
            packets.send(self.control, {"warm": level})

    def is_alive(self) -> bool:
        """Receive all waiting messages, and return whether the server still runs.

        Raises SandboxError if a message reports a failure.
        """
        while self._take_message(0.0):
            continue
        return not self._ended and self._process.poll() is None

    def last_output_line(self) -> str:
        """Return the last line that the server printed, or "(no output)"."""
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "(no output)"

    def close(self) -> None:
        """Kill the server and its workers, and wait for the supervisor, which cleans up."""
        os.close(self._alive_pipe)
        self.control.close()
        self._process.wait()
        self._errors.close()
        if self._leaves:
            remove_tree(self._leaves)  # only there if the supervisor was killed

    def _take_message(self, seconds: float) -> bool:
        """Return False if none came within `seconds`, or another thread took it. Raises SandboxError."""
        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        if not poll.poll(seconds * 1000):
            return False
        try:
            received = packets.receive(self.control, wait=False)
        except BlockingIOError:
            return False
        if received is None:
            self._ended = True
            return False
        message, _ = received
        if "failed" in message:
            raise SandboxError(message["failed"])
        self._ready = self._ready or "ready" in message
        self._leaves = message.get("leaves", self._leaves)
        self.level = message.get("warmed", self.level)
        return True


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

    def wait_until_ready(self, deadline: float) -> bool:
        """Wait until the worker is confined. Return False if the server exited before.

        Raises SandboxError with the step that failed.
        """
        while not (self._ready and self._pidfd >= 0):
            if self._failure:
                raise SandboxError(self._failure)
            if self._gone or self._exit is not None:
                return False
            if not self._receive(deadline):
                raise SandboxError("confine a worker: it took too long")
        return True

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
        """Receive a message about the worker, or their end; False if none came until `deadline`."""
        poll = select.poll()
        poll.register(self._status, select.POLLIN)
        left = max(0.0, deadline - time.monotonic())
        if not poll.poll(left * 1000):
            return False
        received = packets.receive(self._status)
        if received is None:
            self._gone = True
            return True
        message, descriptors = received
        self._failure = message.get("failed", self._failure)
        self._ready = self._ready or "ready" in message
        if "exit" in message:
            self._exit = Exit(**message["exit"])
        if "level" in message:
            self.level = message["level"]
            (self._pidfd,) = descriptors
        return True

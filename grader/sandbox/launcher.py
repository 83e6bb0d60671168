"""The launcher of strict and landlock: a worker server, restarted when it dies, and workers forked ahead.

Each worker has a socket of its own to the server, for messages about it. It is closed when the worker or the server
ends, so nothing waits for a server that died.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from grader.sandbox import packets
from grader.sandbox.base import ONE_THREAD, START_SECONDS, TIERS, Limits, Program, SandboxError, Warm
from grader.sandbox.visible_paths import SITE_NAMES
from grader.support.files import owned

if sys.platform != "linux":
    raise ImportError("this module needs Linux")

_ATTEMPTS = 3
# Make a package `grader` from the folder in the first argument, without running its __init__.py.
_BOOTSTRAP = (
    "import sys, types; package = types.ModuleType('grader'); package.__path__ = [sys.argv[1]]; "
    "sys.modules['grader'] = package; from grader.sandbox.forkserver import main; main()"
)
# The server's environment has, of its parent's, only LD_LIBRARY_PATH.
_ENVIRONMENT = {
    "CUDA_VISIBLE_DEVICES": "",
    "HOME": "/nonexistent",
    "LC_ALL": "C.UTF-8",
    "MALLOC_ARENA_MAX": "4",  # each arena reserves 64 MiB of the worker's address space
}
_NEEDED = ("torch", "numpy", "safetensors")


def site_folders() -> list[str]:
    """Return folders on this process's path with installed packages, found without importing any.

    The project's own folder, which an editable install puts on the path, is left out.
    """
    found = [
        folder
        for folder in sys.path
        if os.path.basename(folder) in SITE_NAMES
        or any(folder and os.path.isfile(os.path.join(folder, name, "__init__.py")) for name in _NEEDED)
    ]
    return list(dict.fromkeys(os.path.realpath(folder) for folder in found if folder))


class SandboxLauncher:
    """Starts workers of strict or landlock. The constructor returns at once, and the server starts in the
    background; `start` waits for it. May be used from several threads.

    `ahead`: a worker is forked ahead, with the most recent limits, so that a start need not
    wait for the fork. `warm`: what the server imports at the start. Each worker is used once.
    shared: a descriptor that `Server.share` made in the process that started this one; if that server dies, the launcher
    starts its own.
    """

    def __init__(
        self,
        tier: str,
        program: Program | None = None,
        *,
        ahead: bool = True,
        warm: Warm = "",
        shared: int | None = None,
    ) -> None:
        self.tier = tier
        self._program = program or Program()
        self._ahead = ahead
        self._warm = warm
        self._lock = threading.Lock()
        self._spare: SandboxedProcess | None = None
        self._closed = False
        if shared is None:
            self._server: Connection = Server(tier, self._program, warm)
        else:
            os.set_inheritable(shared, False)
            self._server = Connection(socket.socket(fileno=shared))
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
                if worker.wait_until_ready(time.monotonic() + START_SECONDS):
                    return worker
                server.is_alive()  # raises if the server said why it ended
            except BaseException:
                worker.close()
                raise
            worker.close()
        raise SandboxError(
            f"the worker server exited {_ATTEMPTS} times; its last output: {server.last_output_line()}"
        )

    def warm(self) -> None:
        """Have the server import more of torch, without waiting for it; see `preload`.

        Workers requested meanwhile wait a second or two.
        """
        with self._lock:
            if self._warm != "training":
                self._warm = "training"
                self._server.warm(self._warm)
                if self._spare is not None:  # replaced by one that is forked afterwards
                    limits = self._spare.limits
                    self._drop_spare()
                    self._spare = self._ask(limits)

    def close(self) -> None:
        """Stop everything this launcher started. Safe to call twice."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._server.close()
            self._drop_spare()

    def _living_server(self) -> Connection:
        if self._closed:
            raise SandboxError("start a worker: the launcher is closed")
        if not self._server.is_alive():
            self._drop_spare()
            self._server.close()
            self._server = Server(self.tier, self._program, self._warm)
        return self._server

    def _take(self, limits: Limits) -> SandboxedProcess:
        if self._spare and self._spare.limits == limits and self._spare.is_fresh():
            return self._spare
        self._drop_spare()
        return self._ask(limits)

    def _ask(self, limits: Limits) -> SandboxedProcess:
        return SandboxedProcess(self._server.control, limits)

    def _drop_spare(self) -> None:
        if self._spare is not None:
            self._spare.close()
            self._spare = None


class Connection:
    """A connection to a worker server of another process, which ends it. control: this side of its socket."""

    def __init__(self, control: socket.socket) -> None:
        self.control = control

    def warm(self, what: Warm) -> None:
        """Ask it to import more of torch. Workers that are requested later have it, too."""
        with contextlib.suppress(OSError):
            packets.send(self.control, {"warm": what})

    def is_alive(self) -> bool:
        """Return whether the server still runs. Raises SandboxError with the step that failed, if it has said so."""
        try:
            received = packets.receive(self.control, 0.0)
        except TimeoutError:
            return True
        if received is None:
            return False
        raise SandboxError(received[0]["failed"])

    def last_output_line(self) -> str:
        """Return the last line that the server printed, or "(no output)"."""
        return "(no output)"

    def close(self) -> None:
        """Have the server kill the workers that were requested over this connection."""
        self.control.close()


class Server(Connection):
    """One running worker server. Its start takes a second; the constructor does not wait for it."""

    def __init__(self, tier: str, program: Program, warm: Warm) -> None:
        control, server_end = packets.pair()
        super().__init__(control)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the server)
        package = str(Path(__file__).resolve().parents[1])
        libraries = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
        arguments = [package, str(server_end.fileno()), str(os.getpid())]
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-B", "-c", _BOOTSTRAP, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                pass_fds=(server_end.fileno(),),
                env=ONE_THREAD | _ENVIRONMENT | libraries,
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            self.control.close()
            raise SandboxError(f"start the server: {error}") from error
        finally:
            server_end.close()
        temporary = Path(tempfile.gettempdir())
        # The prefix has this process's id, so that a later run can remove what a killed one left.
        scratch = str(temporary / owned(temporary, "headway"))
        config = {"tier": TIERS[tier].implementation, "package": package, "sites": site_folders()}
        with contextlib.suppress(OSError):  # it exited already; reported when a worker is requested
            packets.send(self.control, asdict(program) | config | {"scratch": scratch})
        if warm:
            self.warm(warm)

    def share(self) -> socket.socket:
        """Return a socket for another process of this one's: it may ask for workers over it, see `SandboxLauncher`."""
        own, servers = packets.pair()
        with servers, contextlib.suppress(OSError):  # the server has died: the other process notices
            packets.send(self.control, {"shared": True}, [servers.fileno()])
        return own

    def is_alive(self) -> bool:
        return super().is_alive() and self._process.poll() is None

    def last_output_line(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "(no output)"

    def close(self) -> None:
        """Kill the server and its workers, and wait for the supervisor, which cleans up."""
        self.control.close()
        self._process.wait()
        self._errors.close()


class SandboxedProcess:
    """A worker requested from a server. It can be used after `wait_until_ready`."""

    def __init__(self, control: socket.socket, limits: Limits) -> None:
        self.limits = limits
        self._known: dict[str, Any] = {}  # what the messages about it said: "ready", "failed", "exit"
        self._pidfd = -1
        self._gone = False  # whether the server has closed its side of `_status`
        self._closed = False
        request, self.to_worker = os.pipe()
        self.from_worker, reply = os.pipe()
        self.log, output = os.pipe()
        self._status, status = packets.pair()
        try:
            packets.send(control, {"limits": asdict(limits)}, (request, reply, output, status.fileno()))
        except OSError:
            self._gone = True
        finally:
            status.close()
            for descriptor in (request, reply, output):
                os.close(descriptor)

    def wait_until_ready(self, deadline: float) -> bool:
        """Wait until the worker is confined. Return False if the server exited before.

        Raises SandboxError with the step that failed.
        """
        while not ("ready" in self._known and self._pidfd >= 0):
            if "failed" in self._known:
                raise SandboxError(self._known["failed"])
            if self._gone or "exit" in self._known:
                return False
            if not self._receive(deadline):
                raise SandboxError("confine a worker: it took too long")
        return True

    def is_fresh(self) -> bool:
        """Return whether the worker can still be used: it has not exited, and the server still reports on it."""
        while not self._gone and self._receive(0.0):
            continue
        return not self._gone and "exit" not in self._known

    def kill(self) -> None:
        """Kill the worker and all it started. Safe to call twice.

        In `strict` a namespace dies with its first process; in `landlock` the worker cannot start a process.
        """
        if self._pidfd >= 0 and "exit" not in self._known:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def wait(self, timeout: float = 5.0) -> int:
        """Wait for the exit. Raises SandboxError after `timeout` seconds, and if the server exited first.

        When the server exits, its workers are killed. Student code cannot cause this.
        """
        deadline = time.monotonic() + timeout
        while "exit" not in self._known:
            if self._gone:
                raise SandboxError("the worker server exited while a worker ran")
            if not self._receive(deadline):
                raise SandboxError(f"kill a worker: it still runs after {timeout:g} seconds")
        return int(self._known["exit"])

    def close(self) -> None:
        """Kill if needed, wait, and close the descriptors. Safe to call twice."""
        if self._closed:
            return
        self._closed = True
        # A worker without a process descriptor cannot be killed, but it exits when its pipe closes.
        for descriptor in (self.to_worker, self.from_worker, self.log):
            os.close(descriptor)
        self.kill()
        if "ready" in self._known:
            with contextlib.suppress(SandboxError):
                self.wait()
        self._status.close()
        if self._pidfd >= 0:
            os.close(self._pidfd)

    def _receive(self, deadline: float) -> bool:
        """Receive a message about the worker, or their end; False if none came until `deadline`."""
        try:
            received = packets.receive(self._status, deadline - time.monotonic())
        except TimeoutError:
            return False
        if received is None:
            self._gone = True
            return True
        message, descriptors = received
        self._known |= message
        if descriptors:
            (self._pidfd,) = descriptors
        return True

"""The worker server: imports torch once, and forks a confined worker whenever the parent asks for one.

It is started by exec with a small environment (`launcher._ENVIRONMENT`), so it holds no secret: the memory
that a worker inherits has only Python, torch and the program that serves requests. `launcher.Server` runs it as

    python -I -S -B -c BOOTSTRAP PACKAGE CONTROL PARENT

PACKAGE is the folder of the package `grader`. CONTROL is the descriptor of the control socket. PARENT is the pid of the
parent. The new process becomes the supervisor, and forks the worker server.

The supervisor kills the server when the parent ends or closes its side of the control socket. It watches the parent
through a process descriptor, too: a process that the parent forked may hold a copy of the socket. The kernel's death
signal is not enough: the kernel sends it when the parent's thread ends, not the parent. The server cannot watch,
because it may be busy importing torch when the parent is killed. For the same reason the supervisor serves the disk
quota.

Other processes of the parent may share the server: the parent sends their sockets over its own. When such a socket
closes, the workers that were asked for over it are killed.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import socket
import sys
import traceback
from collections.abc import Sequence
from dataclasses import replace
from pkgutil import resolve_name
from typing import Any, NamedTuple, NoReturn, Protocol

from grader.sandbox import kernel, lockdown, packets, seccomp
from grader.sandbox.base import Limits, SandboxError, Warm
from grader.sandbox.disk_quota import DiskQuota
from grader.sandbox.visible_paths import Layout, plan
from grader.worker import preload

if sys.platform != "linux":
    raise ImportError("this module needs Linux")


class ConfinedTier(Protocol):
    """The server's side of a confined tier: its steps, in the order of their calls.

    A failed step raises SandboxError with its name, or OSError.
    """

    layout: Layout  # the paths that workers may see
    quota: DiskQuota | None  # `separate` makes it, the supervisor serves it

    def separate(self) -> None:
        """In the supervisor, before it forks the server."""

    def enclose(self) -> None:
        """In the server, before it imports torch and the program."""

    def fork(self, number: int) -> int:
        """In the server: fork worker `number` and return its pid. No number is used twice."""

    def kept_descriptors(self) -> list[int]:
        """Return the descriptors that `confine` needs in the worker, besides the worker's pipes."""

    def confine(self, number: int, limits: Limits, kept: list[int]) -> None:
        """In the worker: every step except the filter of system calls, which comes last."""

    def clean_up(self, number: int) -> None:
        """In the server, after worker `number` died."""

    def leave(self) -> None:
        """In the supervisor, after the server and its workers died."""


def main() -> None:
    """Become the supervisor, and fork the worker server as its child."""
    _lift_memory_limit()
    control, parent = socket.socket(fileno=int(sys.argv[2])), int(sys.argv[3])
    parent_end = os.pidfd_open(parent)  # readable when the parent ends
    if os.getppid() != parent:  # it has ended already
        os._exit(1)
    received = packets.receive(control)
    if received is None:
        return
    config, _ = received
    try:
        layout = plan(config["package"], config["sites"], config["code"])
        tier: ConfinedTier = resolve_name(config["tier"])(layout, config["scratch"])
        tier.separate()
        supervisor, server = os.getpid(), os.fork()
    except (SandboxError, OSError) as error:
        packets.send(control, {"failed": str(error)})
        return
    if server == 0:
        os.close(parent_end)
        _become_server(tier, control, config, supervisor)
    code = _supervise(server, parent_end, control.fileno(), tier.quota)
    control.close()
    tier.leave()
    os._exit(code)


def _lift_memory_limit() -> None:
    """Undo the soft limit of address space that this process inherited from the process that grades."""
    _soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def _supervise(server: int, parent_end: int, control: int, quota: DiskQuota | None) -> int:
    """Wait until the server or its parent ends, then kill the server. Return its exit code or signal."""
    server_end = os.pidfd_open(server)
    ends = {server_end, parent_end, control}
    ready: list[tuple[int, int]] = []
    while not any(descriptor in ends for descriptor, _ in ready):
        for descriptor, event in ready:
            if quota:
                quota.serve(descriptor, event)
        poll = select.poll()
        for descriptor in (server_end, parent_end, *(quota.descriptors if quota else ())):
            poll.register(descriptor, select.POLLIN)
        poll.register(control, 0)  # not its messages, which are for the server; only its end
        ready = poll.poll()
    signal.pidfd_send_signal(server_end, signal.SIGKILL)
    _, status = os.waitpid(server, 0)
    return abs(os.waitstatus_to_exitcode(status))


def _become_server(
    tier: ConfinedTier, control: socket.socket, config: dict[str, Any], supervisor: int
) -> NoReturn:
    code = 1
    try:
        in_own_pid_namespace = os.getppid() == 0
        kernel.die_with_parent(0 if in_own_pid_namespace else supervisor)
        _Server(tier, control, config).serve()
        code = 0
    except SandboxError as error:
        packets.send(control, {"failed": str(error)})
    except Exception as error:
        traceback.print_exc()
        packets.send(control, {"failed": f"start the server: {type(error).__name__}: {error}"})
    finally:
        os._exit(code)


class _Child(NamedTuple):
    """A worker: its number, the socket for messages about it, and the descriptor over whose socket it was asked for."""

    number: int
    asker: socket.socket
    control: int


class _Server:
    def __init__(self, tier: ConfinedTier, control: socket.socket, config: dict[str, Any]) -> None:
        # Opened now, because `enclose` may hide /proc.
        self._tasks = os.open("/proc/self/task", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._maps = os.open("/proc/self/maps", os.O_RDONLY | os.O_CLOEXEC)
        self._statm = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
        self._tier = tier
        self._control = control
        self._sharing: dict[int, socket.socket] = {}  # the other sockets, by their descriptors
        self._children: dict[int, _Child] = {}  # by the descriptor of its process
        # Under root, the number of a worker decides its user. A random first number makes it rare that two servers share
        # users.
        self._number = int.from_bytes(os.urandom(2), "big")
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)
        tier.enclose()
        sys.path[:] = list(tier.layout.path)
        sys.argv[:] = ["worker"]
        with preload.kept_heap():
            self._entry = resolve_name(config["entry"])
            if config["prepare"]:
                resolve_name(config["prepare"])()
        # Further imports from the project fail, except from packages that are loaded, such as grader.worker.
        sys.modules["grader"].__path__ = []
        self._own_modules = [
            name for name in sys.modules if name.startswith(("grader.sandbox", "grader.support"))
        ]
        kernel.hide_from_tracers()

    def serve(self) -> None:
        while True:
            for descriptor, _ in self._poll.poll():
                if descriptor in self._children:
                    self._report_end(descriptor)
                elif descriptor in self._sharing:
                    self._answer(self._sharing[descriptor])
                elif not self._answer(self._control):
                    return

    def _answer(self, control: socket.socket) -> bool:
        """Do what a message asks for; False if there is none, because the other side is closed."""
        received = packets.receive(control)
        if received is None:
            self._leave(control)
            return False
        message, descriptors = received
        if "warm" in message:
            self._warm(message["warm"])
        elif "shared" in message:
            (descriptor,) = descriptors
            self._sharing[descriptor] = socket.socket(fileno=descriptor)
            self._poll.register(descriptor, select.POLLIN)
        else:
            self._start(control.fileno(), Limits(**message["limits"]), descriptors)
        return True

    def _leave(self, control: socket.socket) -> None:
        """Kill the workers of a process that has closed its socket, or that ended."""
        descriptor = control.fileno()
        for process_end, child in self._children.items():
            if child.control == descriptor:
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(process_end, signal.SIGKILL)
        self._sharing.pop(descriptor, None)
        self._poll.unregister(descriptor)
        control.close()

    def _warm(self, what: Warm) -> None:
        """Import more of torch. If it fails, each worker imports what it needs."""
        try:
            preload.warm(training=what == "training")
            kernel.collapse_pages(self._maps)
        except Exception:
            traceback.print_exc()

    def _start(self, control: int, limits: Limits, descriptors: list[int]) -> None:
        self._number += 1
        number = self._number
        request, reply, log, status = descriptors
        asker = socket.socket(fileno=status)
        try:
            self._require_one_thread()
            # Bytes of address space: Python with a CPU build of torch takes 0.6 GiB; a CUDA build maps 3 GiB of libraries.
            own = int(os.pread(self._statm, 100, 0).split()[0]) * resource.getpagesize()
            limits = replace(limits, memory_bytes=own + limits.memory_bytes)
            pid = self._tier.fork(number)
            if pid == 0:
                self._become_worker(number, limits, descriptors)
            process_end = os.pidfd_open(pid)
        except (SandboxError, OSError) as error:
            _report(asker, {"failed": str(error)})
            asker.close()
            return
        finally:
            for descriptor in (request, reply, log):
                os.close(descriptor)
        self._children[process_end] = _Child(number, asker, control)
        self._poll.register(process_end, select.POLLIN)
        _report(asker, {}, [process_end])

    def _require_one_thread(self) -> None:
        """Raise SandboxError for a second thread: a lock that it holds during the fork stays locked in the worker."""
        count = len(os.listdir(self._tasks))
        if count != 1:
            raise SandboxError(f"fork a worker: the server has {count} threads instead of one")

    def _report_end(self, process_end: int) -> None:
        number, asker, _control = self._children.pop(process_end)
        self._poll.unregister(process_end)
        end = os.waitid(os.P_PIDFD, process_end, os.WEXITED)
        assert end is not None
        os.close(process_end)
        _report(asker, {"exit": end.si_status if end.si_code == os.CLD_EXITED else -end.si_status})
        asker.close()
        self._tier.clean_up(number)

    def _become_worker(self, number: int, limits: Limits, descriptors: list[int]) -> NoReturn:
        code, status = 1, descriptors[3]
        try:
            kept = lockdown.arrange_descriptors(descriptors, self._tier.kept_descriptors())
            status = lockdown.STATUS
            self._tier.confine(number, limits, kept)
            lockdown.explain_refusals()
            # Listed before the fork: searching sys.modules here would copy a page for each name.
            for name in self._own_modules:
                del sys.modules[name]
            lockdown.reset_signals()
            kernel.load_filter(
                seccomp.program(os.getpid())
            )  # the last step: it forbids what the others needed
            os.write(status, b'{"ready": true}')  # calls on sockets are already forbidden
            os.close(status)
        except BaseException as error:
            with contextlib.suppress(OSError):
                os.write(status, json.dumps({"failed": str(error) or type(error).__name__}).encode())
            os._exit(code)
        try:
            self._entry(lockdown.REQUEST, lockdown.REPLY)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)


def _report(end: socket.socket, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
    with contextlib.suppress(OSError):
        packets.send(end, message, descriptors)

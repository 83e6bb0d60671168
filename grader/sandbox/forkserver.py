"""The worker server: imports torch once, and forks a confined worker whenever the parent asks for one.

It is started by exec with a small environment (`server._environment`), so it holds no secret: the memory
that a worker inherits has only Python, torch and the program that serves requests. `server.Server` runs it as

    python -I -S -B -c BOOTSTRAP PACKAGE CONTROL PARENT_ALIVE_PIPE PARENT

PACKAGE is the folder of the package `grader`. CONTROL is the descriptor of the control socket. PARENT_ALIVE_PIPE is a
descriptor that becomes readable when the parent ends. PARENT is the pid of the parent. The new process becomes the
supervisor, and forks the worker server.

The supervisor kills the server when the parent ends. It watches the parent through a process descriptor, and a pipe
that only the parent holds. The kernel's death signal is not enough: the kernel sends it when the parent's thread ends,
not the parent. The server cannot watch, because it may be busy importing torch when the parent is killed. For the same
reason the supervisor serves the disk quota.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pkgutil import resolve_name
from typing import Any, NoReturn

from grader.sandbox import huge_pages, kernel, lockdown, packets, resources
from grader.sandbox.base import Limits, SandboxError
from grader.sandbox.disk_quota import DiskQuota
from grader.sandbox.tiers import Tier, row
from grader.sandbox.visible_paths import plan
from grader.worker import preload

if sys.platform != "linux":
    raise ImportError("this module needs Linux")


@dataclass(frozen=True)
class _Child:
    pid: int
    number: int
    status: socket.socket


def main() -> None:
    """Become the supervisor, and fork the worker server as its child."""
    resources.lift_memory_limit()
    control = socket.socket(fileno=int(sys.argv[2]))
    parent_alive_pipe, parent = int(sys.argv[3]), int(sys.argv[4])
    process_end = os.pidfd_open(parent)  # readable when the parent ends
    if os.getppid() != parent:  # it has ended already
        os._exit(1)
    received = packets.receive(control)
    if received is None:
        return
    config, _ = received
    try:
        layout = plan(config["package"], config["sites"], config["code"])
        tier: Tier = row(config["tier"]).load()(layout, config["temporary"])
        tier.separate()
        supervisor_pid, server = os.getpid(), os.fork()
    except (SandboxError, OSError) as error:
        packets.send(control, {"failed": str(error)})
        return
    if server == 0:
        os.close(parent_alive_pipe)
        os.close(process_end)
        _become_server(tier, control, config, supervisor_pid)
    control.close()
    code = _supervise(server, (parent_alive_pipe, process_end), tier.quota)
    tier.leave()
    os._exit(code)


def _supervise(server: int, parent_alive: Sequence[int], quota: DiskQuota | None) -> int:
    """Wait until the server or its parent ends, then kill the server. Return its exit code or signal."""
    server_end = os.pidfd_open(server)
    while not _wait((server_end, *parent_alive), quota):
        continue
    signal.pidfd_send_signal(server_end, signal.SIGKILL)
    _, status = os.waitpid(server, 0)
    return abs(os.waitstatus_to_exitcode(status))


def _wait(ends: Sequence[int], quota: DiskQuota | None) -> bool:
    poll = select.poll()
    asking = quota.descriptors if quota else []
    for descriptor in (*ends, *asking):
        poll.register(descriptor, select.POLLIN)
    ready = poll.poll()
    if any(descriptor in ends for descriptor, _ in ready):
        return True
    for descriptor, event in ready:
        if quota:
            quota.serve(descriptor, event)
    return False


def _become_server(
    tier: Tier, control: socket.socket, config: dict[str, Any], supervisor_pid: int
) -> NoReturn:
    code = 1
    try:
        in_own_pid_namespace = os.getppid() == 0
        kernel.die_with_parent(0 if in_own_pid_namespace else supervisor_pid)
        server = _Server(tier, control, config)
        packets.send(control, {"ready": True, "leaves": tier.leaves})
        server.serve()
        code = 0
    except SandboxError as error:
        packets.send(control, {"failed": str(error)})
    except Exception as error:
        traceback.print_exc()
        packets.send(control, {"failed": f"start the server: {type(error).__name__}: {error}"})
    finally:
        os._exit(code)


class _Server:
    def __init__(self, tier: Tier, control: socket.socket, config: dict[str, Any]) -> None:
        # Opened now, because `enclose` may hide /proc.
        self._tasks = os.open("/proc/self/task", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._maps = os.open("/proc/self/maps", os.O_RDONLY | os.O_CLOEXEC)
        self._statm = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
        self._tier = tier
        self._control = control
        self._children: dict[int, _Child] = {}
        self._level = "none"
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
                elif not self._answer():
                    return

    def _answer(self) -> bool:
        received = packets.receive(self._control)
        if received is None:
            return False
        message, descriptors = received
        if "warm" in message:
            self._warm(message["warm"])
        else:
            self._start(message["number"], Limits(**message["limits"]), descriptors)
        return True

    def _warm(self, level: str) -> None:
        """Import more of torch. If it fails, each worker imports what it needs."""
        try:
            preload.warm()
            huge_pages.collapse_pages(self._maps)
        except Exception:
            traceback.print_exc()
            return
        self._level = level
        packets.send(self._control, {"warmed": level})

    def _start(self, number: int, limits: Limits, descriptors: list[int]) -> None:
        request, reply, log, status = descriptors
        asker = socket.socket(fileno=status)
        try:
            self._require_one_thread()
            own = resources.address_space(self._statm)
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
        self._children[process_end] = _Child(pid, number, asker)
        self._poll.register(process_end, select.POLLIN)
        _report(asker, {"level": self._level}, [process_end])

    def _require_one_thread(self) -> None:
        """Raise SandboxError for a second thread: a lock that it holds during the fork stays locked in the worker."""
        count = len(os.listdir(self._tasks))
        if count != 1:
            raise SandboxError(f"fork a worker: the server has {count} threads instead of one")

    def _report_end(self, process_end: int) -> None:
        child = self._children.pop(process_end)
        self._poll.unregister(process_end)
        os.close(process_end)
        _, status = os.waitpid(child.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        message = {"code": code if code >= 0 else None, "signal": -code if code < 0 else None}
        _report(child.status, {"exit": message})
        child.status.close()
        self._tier.clean_up(child.number)

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
            lockdown.filter_system_calls()
            packets.write(status, {"ready": True})
            os.close(status)
        except BaseException as error:
            with contextlib.suppress(OSError):
                packets.write(status, {"failed": str(error) or type(error).__name__})
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

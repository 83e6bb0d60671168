"""The strict tier: namespaces around the server; pid, mount and ipc namespaces and an empty folder per worker.

A user namespace gives an ordinary user the right to all this. Under root no user namespace is needed, and
each worker changes to an unused user id. A worker of an ordinary user gets a user namespace of its
own, so that it cannot change the server's mounts and shares no process limit with other workers.
"""

from __future__ import annotations

import os
import socket
import sys

from grader.sandbox import identity, kernel, landlock, lockdown, resources, root
from grader.sandbox.base import Limits, SandboxError
from grader.sandbox.visible_paths import Layout

if sys.platform != "linux":
    raise ImportError("this module needs Linux")

_INSIDE = (1000, 1000)  # user and group of a worker in its own user namespace, as in root._PEOPLE
_SERVER_BYTES, _SERVER_ENTRIES = 1 << 20, 64  # some parts of torch need a temporary folder at import
_AROUND_SERVER = kernel.CLONE_NEWNS | kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS
_AROUND_WORKER = kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC


class Strict:
    """Server side of the tier; see `tiers.Tier`. Each worker's folder is a tmpfs of limited size."""

    leaves = ""
    quota = None

    def __init__(self, layout: Layout, temporary: str) -> None:
        self.layout = layout
        self._proc = -1
        self._own_pids = -1
        self._by_user_namespace = False
        self._uid_map = identity.uid_map()  # read now: the small root has no /proc/self

    def separate(self) -> None:
        """Make a pid namespace for the server."""
        try:
            kernel.unshare("make a pid namespace", kernel.CLONE_NEWPID)
        except SandboxError:
            self._enter_user_namespace()

    def enclose(self) -> None:
        """Leave the network, and enter a small read-only file system."""
        self._proc = os.open("/proc", os.O_PATH | os.O_CLOEXEC)
        self._own_pids = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
        kernel.unshare("make mount, network, ipc and host name namespaces", _AROUND_SERVER)
        socket.sethostname("headway")
        root.build_and_enter(self.layout)
        root.mount_scratch(_SERVER_BYTES, _SERVER_ENTRIES)
        os.environ["TMPDIR"] = root.SCRATCH

    def fork(self, number: int) -> int:
        """Fork a worker as the first process of a new pid namespace."""
        kernel.unshare("make a worker's pid namespace", kernel.CLONE_NEWPID)
        pid = -1
        try:
            pid = os.fork()
        except OSError as error:
            raise SandboxError(f"fork a worker: {error.strerror}") from None
        finally:
            if pid:  # in the server, also after an error; 0 in the worker
                kernel.join_namespace("return to the server's pids", self._own_pids, kernel.CLONE_NEWPID)
        return pid

    def kept_descriptors(self) -> list[int]:
        return [self._proc]

    def confine(self, number: int, limits: Limits, kept: list[int]) -> None:
        (proc,) = kept
        kernel.unshare("make a worker's mount namespace", _AROUND_WORKER)
        root.mount_scratch(limits.file_bytes, resources.SCRATCH_ENTRIES)
        if self._by_user_namespace:
            self._enter_own_user_namespace(proc)
        else:
            self._become_nobody(number)
        os.close(proc)
        lockdown.clean_the_process(root.SCRATCH)
        resources.apply(limits)
        lockdown.give_up_privileges()
        if landlock.version():
            rules = landlock.Ruleset()
            rules.allow(["/"], landlock.READ)
            rules.allow(["/dev/null"], landlock.READ_WRITE)
            rules.allow_all([root.SCRATCH])
            rules.restrict()
            rules.close()
        kernel.die_with_parent(0)  # 0: the parent is outside this pid namespace

    def clean_up(self, number: int) -> None:
        """A worker's folder disappears with its mount namespace."""

    def leave(self) -> None:
        """Nothing was made on the machine."""

    def _enter_user_namespace(self) -> None:
        user, group = os.geteuid(), os.getegid()
        proc = os.open("/proc", os.O_PATH | os.O_CLOEXEC)
        try:
            kernel.unshare("make a user and a pid namespace", kernel.CLONE_NEWUSER | kernel.CLONE_NEWPID)
            kernel.hide_from_tracers(hidden=False)  # a hidden process may not write its own id maps
            kernel.map_ids(proc, (0, 0), (user, group))
        finally:
            os.close(proc)
        self._by_user_namespace = True

    def _enter_own_user_namespace(self, proc: int) -> None:
        kernel.unshare("make a worker's user namespace", kernel.CLONE_NEWUSER)
        kernel.hide_from_tracers(hidden=False)
        kernel.map_ids(proc, _INSIDE, (0, 0))
        kernel.drop_bounding_capabilities()

    def _become_nobody(self, number: int) -> None:
        ids = identity.worker_ids(number, self._uid_map)
        if ids is None:
            raise SandboxError("change to a user that owns nothing: the container maps no such user")
        os.chown(root.SCRATCH, *ids)
        kernel.drop_bounding_capabilities()
        identity.become(ids)

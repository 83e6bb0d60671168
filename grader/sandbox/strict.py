"""The strict tier: namespaces around the server; pid, mount and ipc namespaces and an empty folder per worker.

A user namespace gives an ordinary user the right to all this. Under root no user namespace is needed, and
each worker changes to an unused user id. A worker of an ordinary user gets a user namespace of its
own, so that it cannot change the server's mounts and shares no process limit with other workers.
The file system is a small read-only root with the paths of a layout (see visible_paths.py).
"""

from __future__ import annotations

import os
import socket
import sys

from grader.sandbox import kernel, landlock, lockdown
from grader.sandbox.base import Limits, SandboxError
from grader.sandbox.visible_paths import DEVICES, Layout, steps

if sys.platform != "linux":
    raise ImportError("this module needs Linux")

_INSIDE = (1000, 1000)  # user and group of a worker in its own user namespace, as in _PEOPLE
_PEOPLE = "root:x:0:0::/:\nstudent:x:1000:1000::/scratch:\n"
_SCRATCH = "/scratch"
_SCRATCH_ENTRIES = 1024  # files and folders in a worker's tmpfs
_SERVER_BYTES, _SERVER_ENTRIES = 1 << 20, 64  # some parts of torch need a temporary folder at import
_AROUND_SERVER = kernel.CLONE_NEWNS | kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS
_AROUND_WORKER = kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC
# Folders that most systems have; see `_find_stage`.
_STAGES = ("/mnt", "/media", "/srv", "/opt", "/home", "/var", "/run", "/tmp")
_SIZE = "size=1m,nr_inodes=4k,mode=755"  # folders and mount points only
_QUIET = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC


class Strict:
    """Server side of the tier; see `forkserver.ConfinedTier`. Each worker's folder is a tmpfs of limited size."""

    quota = None

    def __init__(self, layout: Layout, scratch: str) -> None:
        self.layout = layout
        self._proc = -1
        self._own_pids = -1
        self._by_user_namespace = False
        self._users = lockdown.usable_users()  # read now: the small root has no /proc/self

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
        _build_and_enter_root(self.layout)
        _mount_scratch(_SERVER_BYTES, _SERVER_ENTRIES)
        os.environ["TMPDIR"] = _SCRATCH

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
                kernel.syscall("return to the server's pids", "setns", self._own_pids, kernel.CLONE_NEWPID)
        return pid

    def kept_descriptors(self) -> list[int]:
        return [self._proc]

    def confine(self, number: int, limits: Limits, kept: list[int]) -> None:
        (proc,) = kept
        kernel.unshare("make a worker's mount namespace", _AROUND_WORKER)
        _mount_scratch(limits.file_bytes, _SCRATCH_ENTRIES)
        if self._by_user_namespace:
            kernel.unshare("make a worker's user namespace", kernel.CLONE_NEWUSER)
            _map_ids(proc, _INSIDE, (0, 0))
            kernel.drop_bounding_capabilities()
        else:
            self._become_nobody(number)
        os.close(proc)
        lockdown.confine_process(_SCRATCH, limits)
        if landlock.version():
            landlock.Ruleset(["/"], _SCRATCH).restrict()
        kernel.die_with_parent(0)  # 0: the parent is outside this pid namespace

    def clean_up(self, number: int) -> None:
        """A worker's folder disappears with its mount namespace."""

    def leave(self) -> None:
        """Nothing was made on the machine."""

    def _enter_user_namespace(self) -> None:
        outside = os.geteuid(), os.getegid()
        proc = os.open("/proc", os.O_PATH | os.O_CLOEXEC)
        try:
            kernel.unshare("make a user and a pid namespace", kernel.CLONE_NEWUSER | kernel.CLONE_NEWPID)
            _map_ids(proc, (0, 0), outside)
        finally:
            os.close(proc)
        self._by_user_namespace = True

    def _become_nobody(self, number: int) -> None:
        user = lockdown.worker_user(number, self._users)
        if user is None:
            raise SandboxError("change to a user that owns nothing: the container maps no such user")
        os.chown(_SCRATCH, user, user)
        kernel.drop_bounding_capabilities()
        lockdown.become(user)


def _map_ids(proc: int, inside: tuple[int, int], outside: tuple[int, int]) -> None:
    kernel.hide_from_tracers(hidden=False)  # a hidden process may not write its own id maps
    kernel.map_ids(proc, inside, outside)


def _mount_scratch(bytes_: int, entries: int) -> None:
    """Mount an empty folder in memory, for at most `bytes_` bytes and `entries` files, in this mount namespace only."""
    options = f"size={bytes_},nr_inodes={entries},mode=700"
    kernel.mount("make the scratch folder", "scratch", _SCRATCH, "tmpfs", _QUIET, options)


def _build_and_enter_root(layout: Layout) -> None:
    """Replace the root of this process's mount namespace. Raises SandboxError.

    The new root has only cpuinfo of /proc. Open everything else that you need of /proc before the call.
    """
    stage = _find_stage(layout)
    kernel.make_mounts_private()
    kernel.mount("make an empty root", "headway", stage, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, _SIZE)
    for act, path in steps(layout):
        _show(stage, path) if act == "show" else _hide(stage, path)
    for device in DEVICES:
        _show(stage, device, read_only=False)
    os.mkdir(stage + _SCRATCH)
    os.makedirs(stage + "/etc", exist_ok=True)
    with open(
        stage + "/etc/passwd", "w", encoding="ascii"
    ) as file:  # a program finds its user and home in it
        file.write(_PEOPLE)
    if not os.path.lexists(stage + "/tmp"):  # the layout may show a path below it
        os.symlink(_SCRATCH, stage + "/tmp")
    for path in layout.hidden:  # only now: mount points for the shown paths were made in the hidden folders
        kernel.make_read_only(stage + path, below=False)
    kernel.swap_root(stage)
    kernel.make_read_only("/", below=False)  # not the devices: they must be opened for writing


def _find_stage(layout: Layout) -> str:
    """Return a folder to mount the new root on. The mount hides its contents, so no path of the layout may be in it."""
    taken = [f"{path}/" for _, path in steps(layout)]
    for stage in _STAGES:
        if os.path.isdir(stage) and not any(path.startswith(f"{stage}/") for path in taken):
            return stage
    raise SandboxError(f"find a folder to build the root on: none of {', '.join(_STAGES)} is free")


def _show(stage: str, path: str, read_only: bool = True) -> None:
    target = stage + path
    if not os.path.exists(target):
        _make_mount_point(target, path)
    kernel.bind(path, target)
    if read_only:
        kernel.make_read_only(target)


def _hide(stage: str, path: str) -> None:
    target = stage + path
    if os.path.isdir(target):
        kernel.mount(f"hide {path}", "hidden", target, "tmpfs", _QUIET, "size=64k,nr_inodes=64,mode=755")
    else:
        kernel.bind("/dev/null", target)


def _make_mount_point(target: str, path: str) -> None:
    try:
        if os.path.isdir(path):
            os.makedirs(target)
        else:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            open(target, "x").close()
    except OSError as error:
        raise SandboxError(f"make a place for {path}: {error.strerror}") from None

"""Landlock, and the tier that relies on it, for machines that refuse user namespaces.

With Landlock a process restricts for good which files it may open; with a newer kernel, also TCP and signals. A right
that a rule set can grant and does not grant is refused. Rights that the kernel does not know are left out of
the rule set, so the protection depends on the kernel's Landlock version (`version`, 0 if it has none).

The tier makes the same worker as `strict` without namespaces. It cannot hide the names of files and processes. Its
scratch folders are on the machine's disk and have a quota. The server removes a worker's folder after the worker's exit;
the supervisor removes the rest.
"""

from __future__ import annotations

import os
import stat
import struct
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from grader.sandbox import disk_quota, kernel, lockdown
from grader.sandbox.base import Limits, SandboxError
from grader.sandbox.visible_paths import DEVICES, Layout, readable_entries

if sys.platform != "linux":
    raise ImportError("this module needs Linux")

_ASK_VERSION = 1
_RULE_PATH_BENEATH = 1

_WRITE_FILE = 1 << 1
_READ_FILE = 1 << 2
_READ_DIR = 1 << 3
_TRUNCATE = 1 << 14
_IOCTL_DEV = 1 << 15
_FIRST_VERSION = (1 << 13) - 1  # execute, read, write, and making and removing every kind of entry
# Landlock version → the right that it added. 1 << 13: to move a file to another folder.
_ADDED = {2: 1 << 13, 3: _TRUNCATE, 5: _IOCTL_DEV}
# A rule for a file gets only these rights: the kernel refuses a rule that grants a file rights of folders.
_OF_FILES = _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV

# For actions other than opening files: the first Landlock version that can refuse them, and their bits.
_NET_FROM, _NET = 4, 0b11  # bind and connect TCP
_SCOPE_FROM, _SCOPE = 6, 0b11  # abstract sockets, signals

READ = _READ_FILE | _READ_DIR  # without execute: no program is started from anywhere
LIST = _READ_DIR


@cache
def version() -> int:
    """Return the kernel's Landlock version, or 0."""
    return max(0, kernel.probe("landlock_create_ruleset", None, 0, _ASK_VERSION))


def everything(abi: int) -> int:
    """Return all rights on files that version `abi` of Landlock can refuse."""
    return _FIRST_VERSION | sum(right for since, right in _ADDED.items() if abi >= since)


class Ruleset:
    """Grants, collected once; `restrict` applies them to the calling process, for good.

    readable: paths to read. scratch: a folder with all rights. /dev/null may be written.
    """

    def __init__(self, readable: Iterable[str], scratch: str) -> None:
        abi = version()
        if abi < 1:
            raise SandboxError("make a Landlock rule set: this kernel has no Landlock")
        self._all = everything(abi)
        fields = [self._all, *([_NET] if abi >= _NET_FROM else []), *([_SCOPE] if abi >= _SCOPE_FROM else [])]
        attributes = struct.pack(f"={len(fields)}Q", *fields)
        self.descriptor = kernel.syscall(
            "make a Landlock rule set", "landlock_create_ruleset", attributes, len(attributes), 0
        )
        self.allow(readable, READ)
        self.allow(["/dev/null"], _READ_FILE | _WRITE_FILE)
        self.allow([scratch], self._all)

    def allow(self, paths: Iterable[str], rights: int) -> None:
        """Grant `rights` on each path and all below it. Skip paths that cannot be opened."""
        for path in paths:
            try:
                target = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue
            try:
                is_folder = stat.S_ISDIR(os.fstat(target).st_mode)
                granted = rights & self._all & (-1 if is_folder else _OF_FILES)
                if granted:
                    rule = struct.pack("=Qi", granted, target)
                    step = f"grant {path} in Landlock"
                    kernel.syscall(step, "landlock_add_rule", self.descriptor, _RULE_PATH_BENEATH, rule, 0)
            finally:
                os.close(target)

    def restrict(self) -> None:
        """Apply the grants to this process, and close the set. Call `kernel.forbid_new_privileges` first."""
        kernel.syscall("enter Landlock", "landlock_restrict_self", self.descriptor, 0)
        os.close(self.descriptor)


class LandlockTier:
    """Server side of the tier; see `forkserver.ConfinedTier`.

    scratch: the path of the folder for the workers' folders, without its random end.
    """

    def __init__(self, layout: Layout, scratch: str) -> None:
        self.layout = layout
        self.quota: disk_quota.DiskQuota | None = None
        self._prefix = scratch
        self._folder = ""  # for the workers' folders
        self._rules: Ruleset | None = None
        self._server = 0
        self._users = lockdown.usable_users()
        # Whether a user that owns nothing can read all that a worker needs.
        needed = [os.__file__, os.path.dirname(scratch), *layout.path, *layout.code]
        self._as_nobody = all(map(lockdown.others_can_read, needed))

    def separate(self) -> None:
        """Make a folder for the workers' folders."""
        temporary, prefix = os.path.split(self._prefix)
        try:
            self._folder = tempfile.mkdtemp(prefix=prefix, dir=temporary)
            os.chmod(self._folder, 0o711)  # other users can open their own folder in it, but not list it
        except OSError as error:
            raise SandboxError(f"make a folder in {temporary}: {error.strerror}") from None
        self.quota = disk_quota.DiskQuota(self._folder)

    def enclose(self) -> None:
        """Collect the many grants that all workers share, once."""
        self._server = os.getpid()
        os.environ["TMPDIR"] = self._folder  # some parts of torch need a temporary folder at import
        read, listed = readable_entries(self.layout)
        self._rules = Ruleset([*read, *DEVICES], self._folder)
        self._rules.allow(listed, LIST)

    def fork(self, number: int) -> int:
        scratch, user = self._scratch(number), lockdown.worker_user(number, self._users)
        try:
            os.mkdir(scratch, 0o700)
            if user is not None and self._as_nobody:
                os.chown(scratch, user, user)
        except OSError as error:
            raise SandboxError(f"make the scratch folder: {error.strerror}") from None
        return os.fork()

    def kept_descriptors(self) -> list[int]:
        assert self._rules is not None and self.quota is not None
        return [self._rules.descriptor, self.quota.workers_end.fileno()]

    def confine(self, number: int, limits: Limits, kept: list[int]) -> None:
        assert self._rules is not None
        self._rules.descriptor, supervisor = kept
        scratch, user = self._scratch(number), lockdown.worker_user(number, self._users)
        if user is not None:
            lockdown.become(user, reads_as_root=not self._as_nobody)
        # Without a user of its own, the worker has the grader's user, whose threads count.
        others = lockdown.tasks_of(os.geteuid()) if user is None else 0
        bounded = replace(limits, file_bytes=disk_quota.file_bytes(limits))
        lockdown.confine_process(scratch, bounded, tasks_of_others=others)
        # The shared rules are for the folders of all workers. Both sets must grant an access.
        self._rules.restrict()
        Ruleset([*self.layout.shown, *self.layout.code, *DEVICES], scratch).restrict()
        disk_quota.enforce(number, limits, supervisor)
        kernel.die_with_parent(self._server)

    def clean_up(self, number: int) -> None:
        remove_tree(self._scratch(number))

    def leave(self) -> None:
        remove_tree(self._folder)

    def _scratch(self, number: int) -> str:
        return os.path.join(self._folder, str(number))


def remove_tree(path: str, folder: int | None = None) -> None:
    """Remove a folder that hostile code filled, with any permissions below it. No link is followed.

    The process that filled it must be dead: nothing may change meanwhile. The disk quota bounds its depth.
    Does nothing if `path` does not exist. folder: a descriptor of the folder that `path` is in. Raises OSError.
    """
    try:
        here = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
    except FileNotFoundError:
        return
    try:
        for name in os.listdir(here):
            if stat.S_ISDIR(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode):
                os.chmod(name, 0o700, dir_fd=here)
                remove_tree(name, here)
            else:
                os.unlink(name, dir_fd=here)
    finally:
        os.close(here)
    os.rmdir(path, dir_fd=folder)

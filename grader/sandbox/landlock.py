"""Landlock: a process restricts for good which files it may open; with a newer kernel, also TCP and signals.

A right that a rule set can grant and does not grant is refused. Rights that the kernel does not know are left out of
the rule set, so the protection depends on the kernel's Landlock version (`version`, 0 if it has none).
"""

from __future__ import annotations

import os
import stat
import struct
import sys
from collections.abc import Iterable
from functools import cache

from grader.sandbox import kernel
from grader.sandbox.base import SandboxError

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
READ_WRITE = _READ_FILE | _WRITE_FILE
LIST = _READ_DIR


@cache
def version() -> int:
    """Return the kernel's Landlock version, or 0."""
    return max(0, kernel.probe("landlock_create_ruleset", None, 0, _ASK_VERSION))


def everything(abi: int) -> int:
    """Return all rights on files that version `abi` of Landlock can refuse."""
    rights = _FIRST_VERSION
    for since, right in _ADDED.items():
        if abi >= since:
            rights |= right
    return rights


class Ruleset:
    """Grants, collected once; `restrict` applies them to the calling process, for good."""

    def __init__(self) -> None:
        abi = version()
        if abi < 1:
            raise SandboxError("make a Landlock rule set: this kernel has no Landlock")
        self._all = everything(abi)
        fields = [self._all, *([_NET] if abi >= _NET_FROM else []), *([_SCOPE] if abi >= _SCOPE_FROM else [])]
        attributes = struct.pack(f"={len(fields)}Q", *fields)
        self.descriptor = kernel.syscall(
            "make a Landlock rule set", "landlock_create_ruleset", attributes, len(attributes), 0
        )

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

    def allow_all(self, paths: Iterable[str]) -> None:
        self.allow(paths, self._all)

    def restrict(self) -> None:
        """Apply the grants to this process. Call `kernel.forbid_new_privileges` first."""
        kernel.syscall("enter Landlock", "landlock_restrict_self", self.descriptor, 0)

    def close(self) -> None:
        os.close(self.descriptor)

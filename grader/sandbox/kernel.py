"""System calls that Python 3.11 does not wrap, made here through ctypes.

If a call fails, its function raises a SandboxError that names the step. A tool such as bubblewrap would start a new
program, which would have to import torch again.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from functools import cache

from grader.sandbox.base import SandboxError
from grader.sandbox.syscalls import numbers

if sys.platform != "linux":
    raise ImportError("this module needs Linux")

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_NOSUID, MS_NODEV, MS_NOEXEC = 2, 4, 8
_MS_BIND, _MS_REC, _MS_PRIVATE = 1 << 12, 1 << 14, 1 << 18
_MNT_DETACH = 2
_MOUNT_ATTR_RDONLY, _MOUNT_ATTR_NOSUID, _MOUNT_ATTR_NODEV = 1, 2, 4

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4
_PR_CAPBSET_READ, _PR_CAPBSET_DROP = 23, 24
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
_CAPABILITY_VERSION_3 = 0x20080522
_SECCOMP_SET_MODE_FILTER, _SECCOMP_FILTER_FLAG_NEW_LISTENER = 1, 8
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_SIGKILL = 9
_LAST_DESCRIPTOR = 0xFFFFFFFF
_MADV_COLLAPSE = 25  # of Linux 6.1: at once, also where the system makes no large pages itself
_LARGE_PAGE = 2 << 20


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def syscall(step: str, name: str, *arguments: int | bytes | None) -> int:
    """Make a system call by name; integers are passed as 64 bits, and arguments that are left out as 0."""
    padded = [*arguments, 0, 0, 0, 0, 0][:6]
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in padded]
    result: int = _libc().syscall(ctypes.c_long(numbers()[name]), *wide)
    if result < 0:
        raise SandboxError(f"{step}: {os.strerror(ctypes.get_errno())}")
    return result


def probe(name: str, *arguments: int | bytes | None) -> int:
    """Like `syscall`, but return -1 if the kernel refuses: to ask what it supports."""
    try:
        return syscall("ask the kernel", name, *arguments)
    except SandboxError:
        return -1


def unshare(step: str, flags: int) -> None:
    """Enter new namespaces of the kinds in `flags`; a new pid namespace applies only to later children."""
    syscall(step, "unshare", flags)


def mount(step: str, source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    syscall(
        step,
        "mount",
        source.encode(),
        target.encode(),
        kind.encode() or None,
        flags,
        options.encode() or None,
    )


def make_mounts_private() -> None:
    """Hide new mounts of this mount namespace from all others, and new mounts of the others from this one."""
    mount("make mounts private", "none", "/", "", _MS_REC | _MS_PRIVATE)


def bind(source: str, target: str) -> None:
    """Make `source`, and what is mounted below it, visible at `target`.

    Recursive, because in a user namespace the kernel refuses to bind a folder without the
    mounts that cover parts of it.
    """
    mount(f"mount {source}", source, target, "", _MS_BIND | _MS_REC)


def make_read_only(target: str, below: bool = True) -> None:
    """Forbid writes, devices and set-uid at the mount `target`; with `below`, also at the mounts below it.

    Other flags of the mounts stay as they are.
    """
    attributes = struct.pack("=QQQQ", _MOUNT_ATTR_RDONLY | _MOUNT_ATTR_NOSUID | _MOUNT_ATTR_NODEV, 0, 0, 0)
    step, flags = f"make {target} read-only", _AT_RECURSIVE if below else 0
    syscall(step, "mount_setattr", _AT_FDCWD, target.encode(), flags, attributes, len(attributes))


def swap_root(new_root: str) -> None:
    """Make `new_root` the root of the file system and unmount the old one."""
    os.chdir(new_root)
    # Both arguments are the same: the kernel mounts the old root on top of the new one, and umount2 removes it at once.
    # So no folder is needed for it (pivot_root(2), "pivot_root(".", ".")").
    syscall("swap the root folder", "pivot_root", b".", b".")
    syscall("unmount the old root", "umount2", b".", _MNT_DETACH)
    os.chdir("/")


def drop_bounding_capabilities() -> None:
    """Clear the set of capabilities that an exec could regain. Needs CAP_SETPCAP."""
    for capability in range(64):
        if probe("prctl", _PR_CAPBSET_READ, capability) < 0:
            break  # this kernel has no further capabilities
        syscall("drop a bounding capability", "prctl", _PR_CAPBSET_DROP, capability)


def drop_capabilities() -> None:
    syscall("clear ambient capabilities", "prctl", _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    syscall("drop capabilities", "capset", header, struct.pack("=6I", *[0] * 6))


def forbid_new_privileges() -> None:
    syscall("forbid new privileges", "prctl", _PR_SET_NO_NEW_PRIVS, 1)


def hide_from_tracers(hidden: bool = True) -> None:
    """Refuse ptrace and make root the owner of /proc/self. hidden=False allows this process to write its id maps."""
    syscall("hide from tracers", "prctl", _PR_SET_DUMPABLE, 0 if hidden else 1)


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when `parent` ends; exit if it already has.

    parent: its pid, or 0 if it is in another pid namespace. A change of user or capabilities cancels this, so call it
    after such a change.
    """
    syscall("die with the parent", "prctl", _PR_SET_PDEATHSIG, _SIGKILL)
    if os.getppid() != parent:  # the parent ended before the request
        os._exit(1)


def close_descriptors_except(kept: set[int]) -> None:
    first = 0
    for descriptor in [*sorted(kept), _LAST_DESCRIPTOR + 1]:
        if descriptor > first:
            syscall("close other descriptors", "close_range", first, descriptor - 1, 0)
        first = descriptor + 1


def load_filter(program: bytes, asking: bool = False) -> int:
    """Run a classic BPF program before every later system call of this thread.

    asking: the program suspends some calls until another process answers; return the descriptor for the answers.
    """
    code = ctypes.create_string_buffer(program, len(program))  # lives until the kernel has copied it
    sock_fprog = struct.pack("@HP", len(program) // 8, ctypes.addressof(code))
    flags = _SECCOMP_FILTER_FLAG_NEW_LISTENER if asking else 0
    return syscall("load a filter of system calls", "seccomp", _SECCOMP_SET_MODE_FILTER, flags, sock_fprog)


def map_ids(proc: int, inside: tuple[int, int], outside: tuple[int, int]) -> None:
    """Map (user, group) `outside` to `inside`, in the user namespace that this process has just entered.

    proc: a descriptor of /proc.
    """
    rows = [f"{one} {other} 1" for one, other in zip(inside, outside, strict=True)]
    for name, text in zip(("setgroups", "uid_map", "gid_map"), ("deny", *rows), strict=True):
        try:
            with open(os.open(f"self/{name}", os.O_WRONLY | os.O_CLOEXEC, dir_fd=proc), "w") as file:
                file.write(text)
        except OSError as error:
            raise SandboxError(f"map ids ({name}): {error.strerror}") from None


def collapse_pages(maps: int) -> None:
    """Collapse the small pages of this process's private data into large ones. Where the system cannot, nothing changes.

    A fork copies the page table and the worker's exit frees it: for 140 MiB in pages of 4 KiB, this takes more than
    half of the time of a worker; in pages of 2 MiB, almost none. A worker that writes gets its own small page, as
    before.

    maps: a descriptor of /proc/self/maps. Takes a fraction of a second.
    """
    os.lseek(maps, 0, os.SEEK_SET)
    with os.fdopen(os.dup(maps)) as file:
        rows = [line.split() for line in file]
    for row in rows:
        without_file = len(row) == 5 or row[5] == "[heap]"  # only some rows have a name after the inode
        if without_file and row[1].startswith("rw"):
            start, stop = (int(end, 16) for end in row[0].split("-"))
            first = -(-start // _LARGE_PAGE) * _LARGE_PAGE  # a large page begins at a multiple of its size
            for address in range(first, stop - _LARGE_PAGE + 1, _LARGE_PAGE):
                probe("madvise", address, _LARGE_PAGE, _MADV_COLLAPSE)

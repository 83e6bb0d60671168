"""System calls that Python 3.11 does not wrap.

If a call fails, its function raises a SandboxError that names the step; `probe` returns -1 instead.

The calls are made here, through ctypes. A tool such as bubblewrap starts a new program, which would have to import
torch again.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
from functools import cache

from grader.sandbox.base import SandboxError

if sys.platform != "linux":
    raise ImportError("this module needs Linux")

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MNT_DETACH = 2

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4
SECCOMP_MODE_FILTER = 2
SECCOMP_SET_MODE_FILTER = 1
SECCOMP_FILTER_FLAG_NEW_LISTENER = 8

_AT_FDCWD = -100
_AT_RECURSIVE = 0x8000
_MOUNT_ATTR_RDONLY = 1
_MOUNT_ATTR_NOSUID = 2
_MOUNT_ATTR_NODEV = 4
_CAPABILITY_VERSION_3 = 0x20080522
_SIGKILL = 9
_LAST_DESCRIPTOR = 0xFFFFFFFF

# Calls that some C libraries do not wrap: their numbers on x86-64 and aarch64.
_NUMBERS = {
    "pivot_root": (155, 41),
    "capset": (126, 91),
    "close_range": (436, 436),
    "mount_setattr": (442, 442),
    "landlock_create_ruleset": (444, 444),
    "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
    "seccomp": (317, 277),
}


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


@cache
def machine() -> str:
    """Return the CPU architecture: "x86_64" or "aarch64". Raises SandboxError for any other."""
    name = os.uname().machine
    if name not in ("x86_64", "aarch64"):
        raise SandboxError(f"unsupported CPU {name}: system-call tables exist for x86_64 and aarch64")
    return name


def _checked(step: str, result: int) -> int:
    if result < 0:
        raise SandboxError(f"{step}: {os.strerror(ctypes.get_errno())}")
    return result


def syscall(step: str, name: str, *arguments: int | bytes | None) -> int:
    """Make a system call by name; integers are passed as 64 bits."""
    on_x86_64, on_aarch64 = _NUMBERS[name]
    number = on_aarch64 if machine() == "aarch64" else on_x86_64
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return _checked(step, _libc().syscall(ctypes.c_long(number), *wide))


def probe(name: str, *arguments: int | bytes | None) -> int:
    """Like `syscall`, but return -1 if the kernel refuses: to ask what it supports."""
    try:
        return syscall("ask the kernel", name, *arguments)
    except SandboxError:
        return -1


def unshare(step: str, flags: int) -> None:
    """Enter new namespaces of the kinds in `flags`; a new pid namespace applies only to later children."""
    _checked(step, _libc().unshare(ctypes.c_int(flags)))


def join_namespace(step: str, descriptor: int, kind: int) -> None:
    _checked(step, _libc().setns(ctypes.c_int(descriptor), ctypes.c_int(kind)))


def prctl(step: str, option: int, *arguments: int) -> int:
    padded = [*arguments, 0, 0, 0, 0][:4]
    wide = [ctypes.c_ulong(argument) for argument in padded]
    return _checked(step, _libc().prctl(ctypes.c_int(option), *wide))


def mount(step: str, source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    result = _libc().mount(
        source.encode(), target.encode(), kind.encode() or None,
        ctypes.c_ulong(flags), options.encode() or None,
    )  # fmt: skip
    _checked(step, result)


def make_mounts_private() -> None:
    """Hide new mounts of this mount namespace from all others, and new mounts of the others from this one."""
    mount("make mounts private", "none", "/", "", MS_REC | MS_PRIVATE)


def bind(source: str, target: str) -> None:
    """Make `source`, and what is mounted below it, visible at `target`.

    Recursive, because in a user namespace the kernel refuses to bind a folder without the
    mounts that cover parts of it.
    """
    mount(f"mount {source}", source, target, "", MS_BIND | MS_REC)


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
    _checked("unmount the old root", _libc().umount2(b".", ctypes.c_int(MNT_DETACH)))
    os.chdir("/")


def drop_bounding_capabilities() -> None:
    """Clear the set of capabilities that an exec could regain. Needs CAP_SETPCAP."""
    for capability in range(64):
        result = _libc().prctl(ctypes.c_int(PR_CAPBSET_DROP), *map(ctypes.c_ulong, (capability, 0, 0, 0)))
        if result < 0 and ctypes.get_errno() == errno.EINVAL:
            break  # this kernel has no further capabilities
        _checked("drop a bounding capability", result)


def drop_capabilities() -> None:
    prctl("clear ambient capabilities", PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    syscall("drop capabilities", "capset", header, struct.pack("=6I", *[0] * 6))


def forbid_new_privileges() -> None:
    prctl("forbid new privileges", PR_SET_NO_NEW_PRIVS, 1)


def hide_from_tracers(hidden: bool = True) -> None:
    """Refuse ptrace and make root the owner of /proc/self. hidden=False allows this process to write its id maps."""
    prctl("hide from tracers", PR_SET_DUMPABLE, 0 if hidden else 1)


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when `parent` ends; exit if it already has.

    parent: its pid, or 0 if it is in another pid namespace. A change of user or capabilities cancels this, so call it
    after such a change.
    """
    prctl("die with the parent", PR_SET_PDEATHSIG, _SIGKILL)
    if os.getppid() != parent:  # the parent ended before the request
        os._exit(1)


def close_descriptors_except(kept: set[int]) -> None:
    first = 0
    for descriptor in [*sorted(kept), _LAST_DESCRIPTOR + 1]:
        if descriptor > first:
            syscall("close other descriptors", "close_range", first, descriptor - 1, 0)
        first = descriptor + 1


def load_filter(program: bytes) -> None:
    """Run a classic BPF program before every later system call of this thread."""
    code, filter_ = _filter(program)
    where = ctypes.addressof(filter_)
    prctl("load the system call filter", PR_SET_SECCOMP, SECCOMP_MODE_FILTER, where)
    del code  # the kernel has copied it


def load_asking_filter(program: bytes) -> int:
    """Load a program that suspends some calls until another process answers. Return the descriptor for the answers."""
    code, filter_ = _filter(program)
    where = ctypes.addressof(filter_)
    listener = syscall(
        "load the filter for the disk quota", "seccomp",
        SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, where,
    )  # fmt: skip
    del code
    return listener


def _filter(program: bytes) -> tuple[ctypes.Array[ctypes.c_char], ctypes.Array[ctypes.c_char]]:
    """Return the instructions, and struct sock_fprog, which points to them. Both must live until the kernel read them."""
    code = ctypes.create_string_buffer(program, len(program))
    return code, ctypes.create_string_buffer(struct.pack("@HP", len(program) // 8, ctypes.addressof(code)))


def map_ids(proc: int, inside: tuple[int, int], outside: tuple[int, int]) -> None:
    """Map (user, group) `outside` to `inside`, in the user namespace that this process has just entered.

    proc: a descriptor of /proc.
    """
    _write(proc, "self/setgroups", "deny")
    _write(proc, "self/uid_map", f"{inside[0]} {outside[0]} 1")
    _write(proc, "self/gid_map", f"{inside[1]} {outside[1]} 1")


def _write(folder: int, name: str, text: str) -> None:
    try:
        descriptor = os.open(name, os.O_WRONLY | os.O_CLOEXEC, dir_fd=folder)
        try:
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)
    except OSError as error:
        raise SandboxError(f"map ids ({name}): {error.strerror}") from None

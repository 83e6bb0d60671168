"""Steps that strict and landlock take in a fresh worker before any student code: its descriptors, user, folder, limits,
privileges and system calls.
"""

from __future__ import annotations

import _multiprocessing  # type: ignore[import-not-found]
import contextlib
import fcntl
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Iterable, Sequence
from io import TextIOWrapper
from typing import Any

from grader.sandbox import kernel
from grader.sandbox.base import Limits, SandboxError

if sys.platform != "linux":
    raise ImportError("this module needs Linux")

REQUEST, REPLY = 3, 4  # descriptors of the worker's pipes; 0 is /dev/null, 1 and 2 are the log
STATUS = 5  # the worker sends "ready" or the failed step here; it is closed before student code runs
_FIRST_KEPT = 6
_MOST_DESCRIPTORS = 128  # open at the same time
_FIRST_USER, _USERS = 61_184, 4_096  # the range that Linux systems keep for short-lived users

_PROGRAM = "the grader's sandbox starts no other programs or processes"
_SOCKET = "the grader's sandbox has no network and no sockets"
_SENTENCES = {
    "subprocess.Popen": _PROGRAM,
    "os.system": _PROGRAM,
    "os.exec": _PROGRAM,
    "os.posix_spawn": _PROGRAM,
    "os.spawn": _PROGRAM,
    "os.fork": _PROGRAM,
    "os.forkpty": _PROGRAM,
    "pty.spawn": _PROGRAM,
    "socket.__new__": _SOCKET,
    "socket.getaddrinfo": _SOCKET,
}


def arrange_descriptors(given: Sequence[int], kept: Iterable[int]) -> list[int]:
    """Give the worker its descriptors under fixed numbers and close all others.

    given: request, reply, log and status. kept: descriptors that later steps need and close. Return the new numbers
    of `kept`.
    """
    request, reply, log, status = given
    nothing = os.open("/dev/null", os.O_RDONLY)
    # The place in the list is the new number: `request` gets REQUEST, and so on.
    wanted = [nothing, log, log, request, reply, status, *kept]
    # Copies with numbers above all that the worker gets, so that dup2 overwrites none of them.
    high = [fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 64) for descriptor in wanted]
    for target, descriptor in enumerate(high):
        os.dup2(descriptor, target, inheritable=False)
    numbers = range(len(wanted))
    kernel.close_descriptors_except(set(numbers))
    return list(numbers[_FIRST_KEPT:])


# ---- the user: under root, a worker becomes a user that owns nothing and shares no limits


def usable_users() -> list[range]:
    """Return the users that this process can become: if it is root, those of its user namespace; else none."""
    if os.geteuid() != 0:
        return []
    with open("/proc/self/uid_map", encoding="ascii") as file:
        rows = [tuple(map(int, line.split())) for line in file]
    return [range(first, first + count) for first, _, count in rows]


def worker_user(number: int, usable: Iterable[range]) -> int | None:
    """Return the user, and group, for worker `number`; None if it is not usable, for example not in this container.

    Workers get different users, until 4096 numbers are used. So a worker that uses up its threads takes none from
    another worker.
    """
    user = _FIRST_USER + number % _USERS
    return user if any(user in users for users in usable) else None


def become(user: int, reads_as_root: bool = False) -> None:
    """Change to this user, and to the group of the same number, for good. Raises SandboxError.

    reads_as_root: change only the real user, for a Python that only root can read. The limit on threads counts by real
    user and does not apply to root. Without capabilities and inside the tier, root's only remaining right is to read
    the visible files.
    """
    effective = 0 if reads_as_root else user
    try:
        os.setgroups([])
        os.setresgid(user, effective, effective)
        os.setresuid(user, effective, effective)
    except OSError as error:
        raise SandboxError(f"change to user {user}: {error.strerror}") from None


def others_can_read(path: str) -> bool:
    """Return whether a user that owns nothing may read `path`, and pass through every folder above it."""
    real = os.path.realpath(path)
    try:
        while real != "/":
            real = os.path.dirname(real)
            if not os.stat(real).st_mode & 0o001:
                return False
        return bool(os.stat(path).st_mode & 0o004)
    except OSError:
        return False


def tasks_of(user: int) -> int:
    """Return the number of threads of `user` on the whole machine, for a tier without a user namespace."""
    count = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                if os.stat(f"/proc/{name}").st_uid == user:
                    count += len(os.listdir(f"/proc/{name}/task"))
    return count


# ---- the process


def confine_process(scratch: str, limits: Limits, tasks_of_others: int = 0) -> None:
    """Give the process its own folder and environment, limit it, drop all capabilities, gain none in a later exec, and
    refuse tracing. Raises SandboxError.

    tasks_of_others: threads that already run under this process's user. The kernel counts them, so they are added to
    the limit on threads.
    """
    _clean_the_process(scratch)
    _limit(limits, tasks_of_others)
    kernel.drop_capabilities()
    kernel.forbid_new_privileges()
    kernel.hide_from_tracers()


def _clean_the_process(scratch: str) -> None:
    """Give the process its own folder, environment and arguments, so that student code sees none of the server's."""
    os.umask(0o077)
    os.chdir(scratch)
    os.environ.clear()
    os.environ.update(
        {
            "HOME": scratch,
            "TMPDIR": scratch,
            "USER": "student",
            "LOGNAME": "student",
            "LC_ALL": "C.UTF-8",
            "OMP_NUM_THREADS": "1",
            "TORCHDYNAMO_DISABLE": "1",  # torch.compile returns the function itself: compilers are not started here
            "CUDA_VISIBLE_DEVICES": "",
        }
    )
    tempfile.tempdir = None  # the server may have set it before the fork
    sys.argv[:] = ["worker"]
    sys.orig_argv[:] = ["worker"]
    for stream in (sys.stdout, sys.stderr):
        assert isinstance(stream, TextIOWrapper)
        stream.reconfigure(line_buffering=True, write_through=True)


def _limit(limits: Limits, tasks_of_others: int) -> None:
    """Set the limits of resources. Soft and hard limits are equal.

    At its soft limit of CPU time a process only gets a signal, which the first process of a namespace ignores. The hard
    limit kills it.
    """
    amounts = {
        "RLIMIT_AS": limits.memory_bytes,
        "RLIMIT_CPU": limits.cpu_seconds,
        "RLIMIT_FSIZE": limits.file_bytes,
        "RLIMIT_NPROC": limits.processes + tasks_of_others,
        "RLIMIT_NOFILE": _MOST_DESCRIPTORS,
        "RLIMIT_STACK": 8 << 20,
        "RLIMIT_CORE": 0,
        "RLIMIT_MEMLOCK": 0,
        "RLIMIT_MSGQUEUE": 0,
    }
    for name, amount in amounts.items():
        which = getattr(resource, name)
        _, hard = resource.getrlimit(which)
        bounded = amount if hard == resource.RLIM_INFINITY else min(amount, hard)
        try:
            resource.setrlimit(which, (bounded, bounded))
        except (OSError, ValueError) as error:
            raise SandboxError(f"limit {name}: {error}") from None


def reset_signals() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def explain_refusals() -> None:
    """Raise PermissionError with a sentence at Python's audit events for actions that the kernel refuses.

    This is help, not protection: hostile code may remove it.
    """

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if sentence := _SENTENCES.get(event):
            raise PermissionError(sentence)

    sys.addaudithook(refuse)

    # Locks between processes raise no audit event. A DataLoader with workers first makes such a lock.
    class SemLock(_multiprocessing.SemLock):  # type: ignore[misc]
        def __new__(cls, *arguments: Any, **options: Any) -> Any:
            raise PermissionError(f"{_PROGRAM}: use num_workers=0, and threads instead of multiprocessing")

    _multiprocessing.SemLock = SemLock


if sys.platform != "linux":
    raise ImportError("this module needs Linux")

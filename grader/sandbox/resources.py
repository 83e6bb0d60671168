"""Resource limits of one worker.

At its soft limit of CPU time a process only gets a signal, which the first process of a namespace ignores. The hard
limit kills it. So soft and hard limits are equal.
"""

from __future__ import annotations

import contextlib
import os
import sys

from grader.sandbox.base import Limits, SandboxError

if sys.platform != "linux":
    raise ImportError("this module needs Linux")

DESCRIPTORS = 128  # open at the same time
SCRATCH_ENTRIES = 1024  # files and folders in a worker's tmpfs


def apply(limits: Limits, tasks_of_others: int = 0) -> None:
    """Limit this process. Raises SandboxError.

    tasks_of_others: threads that already run under this process's user. The kernel counts them, so they are added to
    the limit on threads.
    """
    import resource

    amounts = {
        "RLIMIT_AS": limits.memory_bytes,
        "RLIMIT_CPU": limits.cpu_seconds,
        "RLIMIT_FSIZE": limits.file_bytes,
        "RLIMIT_NPROC": limits.processes + tasks_of_others,
        "RLIMIT_NOFILE": DESCRIPTORS,
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


def lift_memory_limit() -> None:
    """Undo the soft limit of address space that this process inherited from the process that grades."""
    import resource

    _soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def address_space(statm: int) -> int:
    """Return the bytes of address space of the process whose /proc/PID/statm is open as `statm`.

    Python with a CPU build of torch takes 0.6 GiB; a CUDA build of torch maps 3 GiB of libraries.
    """
    return int(os.pread(statm, 100, 0).split()[0]) * os.sysconf("SC_PAGE_SIZE")


def tasks_of(user: int) -> int:
    """Return the number of threads of `user` on the whole machine, for a tier without a user namespace."""
    count = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                if os.stat(f"/proc/{name}").st_uid == user:
                    count += len(os.listdir(f"/proc/{name}/task"))
    return count

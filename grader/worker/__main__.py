"""A cold worker, which no server forked: `python -m grader.worker REQUEST_FD REPLY_FD PARENT_PID WARM`.

It imports torch, waits for its limits, and answers requests. If WARM is not empty, it also imports, before it waits, the
parts of torch that torch loads on first use.
"""

import contextlib
import os
import struct
import sys
import time

from grader.worker.frames import read_exactly
from grader.worker.preload import kept_heap, warm

# As in sandbox/basic.py: bytes of memory, seconds of processor time, bytes of a file.
_LIMITS = struct.Struct("<QQQ")


def _end_with_parent(parent: int) -> None:
    """End this process when its parent ends: on Linux the kernel kills it, on Windows its job object does. Elsewhere
    it exits when the pipe closes, or at its limits.
    """
    if sys.platform == "linux":
        import ctypes
        import signal

        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
    if sys.platform != "win32" and os.getppid() != parent:  # the parent has ended already
        os._exit(1)


def _limit(memory: int, cpu: int, file: int) -> None:
    """Limit this process as far as the system can. On Windows its job object does so; files have no limit there.

    memory: bytes beyond those in use now. cpu: seconds from now on. file: bytes of one file.
    """
    if sys.platform != "win32":
        import resource

        amounts = {
            resource.RLIMIT_CPU: cpu + int(time.process_time()),
            resource.RLIMIT_FSIZE: file,
            resource.RLIMIT_CORE: 0,
        }
        # Bytes of address space that Python and torch use. macOS neither reports nor limits them.
        with contextlib.suppress(OSError), open("/proc/self/statm", "rb") as statm:
            used = int(statm.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
            amounts[resource.RLIMIT_AS] = used + memory
        for kind, amount in amounts.items():
            # Some systems refuse some of these limits. The timeout always applies.
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(kind, (amount, amount))


def main() -> None:
    request, reply, parent = map(int, sys.argv[1:4])
    _end_with_parent(parent)
    with kept_heap():  # without garbage collection, the import is faster
        from grader.worker.main import serve

    if sys.argv[4]:
        warm()
    try:
        limits = _LIMITS.unpack(read_exactly(request, _LIMITS.size))
    except EOFError:  # the parent closed the pipe: it did not need this worker
        return
    _limit(*limits)
    serve(request, reply)


main()

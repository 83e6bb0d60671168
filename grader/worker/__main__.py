"""A cold worker: `python -m grader.worker REQUEST_FD REPLY_FD MEMORY CPU FILE PARENT_PID`."""

import os
import signal
import sys


def _die_with_parent(parent: int) -> None:
    """On Linux, have the kernel kill this process with its parent. Elsewhere an honest worker stops when the pipe closes."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(1)


def _limit(**amounts: int) -> None:
    try:
        import resource
    except ImportError:  # not a Unix: the parent's timeout is the only limit
        return
    for name, amount in amounts.items():
        try:
            resource.setrlimit(getattr(resource, name), (amount, amount))
        except (ValueError, OSError):
            continue  # some systems refuse some limits; the timeout always holds


def _address_space() -> int:
    """Bytes of address space that Python and torch use; 0 if the system does not say."""
    try:
        with open("/proc/self/statm", "rb") as statm:
            return int(statm.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def main() -> None:
    request_fd, reply_fd, memory, cpu, file_bytes, parent = map(int, sys.argv[1:7])
    _die_with_parent(parent)
    _limit(RLIMIT_CPU=cpu, RLIMIT_FSIZE=file_bytes, RLIMIT_CORE=0)
    from grader.worker.main import serve

    _limit(RLIMIT_AS=_address_space() + memory)
    serve(request_fd, reply_fd)


main()

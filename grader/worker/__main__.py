"""A cold worker: `python -m grader.worker REQUEST_FD REPLY_FD MEMORY CPU FILE PARENT_PID`."""

import os
import signal
import sys


def _die_with_parent(parent: int) -> None:
    """Linux: be killed when the parent is; elsewhere the closed pipe ends an honest worker."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(1)


def _limit(memory: int, cpu: int, file_bytes: int) -> None:
    try:
        import resource
    except ImportError:  # not a Unix: the parent's clock is the only limit
        return
    for what, amount in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, cpu),
        (resource.RLIMIT_FSIZE, file_bytes),
        (resource.RLIMIT_CORE, 0),
    ):
        try:
            resource.setrlimit(what, (amount, amount))
        except (ValueError, OSError):
            continue  # some systems refuse some limits; the wall clock always holds


def main() -> None:
    request_fd, reply_fd, memory, cpu, file_bytes, parent = map(int, sys.argv[1:7])
    _die_with_parent(parent)
    _limit(memory, cpu, file_bytes)
    from grader.worker.main import serve

    serve(request_fd, reply_fd)


main()

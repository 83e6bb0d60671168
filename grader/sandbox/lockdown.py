"""Steps that strict and landlock take in a fresh worker before any student code."""

from __future__ import annotations

import _multiprocessing  # type: ignore[import-not-found]
import os
import signal
import sys
import tempfile
from collections.abc import Iterable, Sequence
from io import TextIOWrapper
from typing import Any

from grader.sandbox import kernel, seccomp

if sys.platform != "linux":
    raise ImportError("this module needs Linux")

REQUEST, REPLY = 3, 4  # descriptors of the worker's pipes; 0 is /dev/null, 1 and 2 are the log
STATUS = 5  # the worker sends "ready" or the failed step here; it is closed before student code runs
FIRST_KEPT = 6

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
    import fcntl

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
    return list(numbers[FIRST_KEPT:])


def clean_the_process(scratch: str) -> None:
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


def reset_signals() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def give_up_privileges() -> None:
    """Drop all capabilities, gain none in a later exec, and refuse tracing."""
    kernel.drop_capabilities()
    kernel.forbid_new_privileges()
    kernel.hide_from_tracers()


def filter_system_calls() -> None:
    """The last step: it forbids what the others needed."""
    kernel.load_filter(seccomp.program(os.getpid()))


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

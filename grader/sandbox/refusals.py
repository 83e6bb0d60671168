"""Messages for what a confined worker cannot do, so that the exception gives a reason.

This is help, not protection: the kernel refuses all of it anyway, and hostile code may remove this.
"""

from __future__ import annotations

import _multiprocessing  # type: ignore[import-not-found]
import sys
from typing import Any

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


def install() -> None:
    """Raise PermissionError with a sentence at Python's audit events for actions that the kernel refuses."""
    sys.addaudithook(_refuse)
    _refuse_shared_locks()


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    sentence = _SENTENCES.get(event)
    if sentence:
        raise PermissionError(sentence)


def _refuse_shared_locks() -> None:
    """Refuse locks between processes, which raise no audit event. A DataLoader with workers first makes such a lock."""

    class SemLock(_multiprocessing.SemLock):  # type: ignore[misc]
        def __new__(cls, *arguments: Any, **options: Any) -> Any:
            raise PermissionError(f"{_PROGRAM}: use num_workers=0, and threads instead of multiprocessing")

    _multiprocessing.SemLock = SemLock

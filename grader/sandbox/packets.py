"""Messages between the grader's processes: one JSON object per packet, with descriptors.

All senders are trusted: a worker closes its own sockets of this kind before any student code runs.
"""

from __future__ import annotations

import array
import json
import select
import socket
import sys
from collections.abc import Sequence
from typing import Any

if sys.platform != "linux":
    raise ImportError("this module needs Linux")

_LARGEST = 64 << 10  # bytes of a message
_MOST_DESCRIPTORS = 8
_INT = array.array("i").itemsize


def pair() -> tuple[socket.socket, socket.socket]:
    """Return two connected sockets that keep packets apart; each notices when the other is closed."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def send(end: socket.socket, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
    end.sendmsg([json.dumps(message).encode()], rights, socket.MSG_NOSIGNAL)


def receive(end: socket.socket, seconds: float | None = None) -> tuple[dict[str, Any], list[int]] | None:
    """Return the next message and its descriptors, or None if the other side is closed.

    Raises TimeoutError if none comes within `seconds`, or if another thread takes it. None: wait without a limit.
    """
    poll = select.poll()
    poll.register(end, select.POLLIN)
    if not poll.poll(None if seconds is None else max(0.0, seconds) * 1000):
        raise TimeoutError
    try:
        # Not `socket.recv_fds`: up to Python 3.12 it ignores the flags, and waits.
        flags = socket.MSG_CMSG_CLOEXEC | socket.MSG_DONTWAIT
        data, extra, _, _ = end.recvmsg(_LARGEST, socket.CMSG_LEN(_MOST_DESCRIPTORS * _INT), flags)
    except BlockingIOError:
        raise TimeoutError from None
    except ConnectionResetError:
        return None
    found = array.array("i")
    for level, kind, rights in extra:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            found.frombytes(rights[: len(rights) - len(rights) % _INT])
    return (json.loads(data), list(found)) if data else None

"""Messages between the grader's processes: one JSON object per packet, with descriptors.

All senders are trusted: a worker closes its own sockets of this kind before any student code runs.
"""

from __future__ import annotations

import array
import json
import os
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


def receive(end: socket.socket, wait: bool = True) -> tuple[dict[str, Any], list[int]] | None:
    """Return the next message and its descriptors, or None if the other side is closed.

    With wait=False, raise BlockingIOError if there is no message yet.
    """
    flags = socket.MSG_CMSG_CLOEXEC | (0 if wait else socket.MSG_DONTWAIT)
    try:
        # Not `socket.recv_fds`: up to Python 3.12 it ignores the flags, and waits.
        data, extra, _, _ = end.recvmsg(_LARGEST, socket.CMSG_LEN(_MOST_DESCRIPTORS * _INT), flags)
    except ConnectionResetError:
        return None
    found = array.array("i")
    for level, kind, rights in extra:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            found.frombytes(rights[: len(rights) - len(rights) % _INT])
    return (json.loads(data), list(found)) if data else None


def write(descriptor: int, message: dict[str, Any]) -> None:
    """Send through a bare descriptor, where calls on sockets are already forbidden."""
    os.write(descriptor, json.dumps(message).encode())

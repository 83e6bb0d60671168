"""Messages between the parent and the fork-server: one JSON object per packet, descriptors beside it.

All of it is between trusted sides; a worker's own descriptor of this kind is closed before any
student code runs.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Sequence
from typing import Any

_LARGEST = 64 << 10
_MOST_DESCRIPTORS = 8


def pair() -> tuple[socket.socket, socket.socket]:
    """Two ends that keep packets apart and see the other's end."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def send(end: socket.socket, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
    socket.send_fds(end, [json.dumps(message).encode()], list(descriptors), socket.MSG_NOSIGNAL)


def receive(end: socket.socket, wait: bool = True) -> tuple[dict[str, Any], list[int]] | None:
    """The next message and its descriptors, or None when the other side is gone.

    Without `wait` raises BlockingIOError when there is none.
    """
    flags = socket.MSG_CMSG_CLOEXEC | (0 if wait else socket.MSG_DONTWAIT)
    try:
        data, descriptors, _, _ = socket.recv_fds(end, _LARGEST, _MOST_DESCRIPTORS, flags)
    except ConnectionResetError:
        return None
    return (json.loads(data), list(descriptors)) if data else None


def write(descriptor: int, message: dict[str, Any]) -> None:
    """Send through a bare descriptor, where calls on sockets are already forbidden."""
    os.write(descriptor, json.dumps(message).encode())

"""Windows can wait for several sockets, but not for several pipes: a thread per pipe copies between it and a socket.

Each thread has its own descriptor and closes it, so no descriptor is closed while a thread uses it. A thread ends when
either side is closed, at the latest when the worker exits.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from io import RawIOBase
from typing import Literal, cast

CHUNK = 1 << 16


def as_sockets(to_worker: int, from_worker: int, log: int) -> tuple[RawIOBase, RawIOBase, RawIOBase]:
    """Return streams for three pipes: reading and writing returns None where it would wait."""
    return (
        _stream(_write_all, to_worker, "wb"),
        _stream(_read_all, from_worker, "rb"),
        _stream(_read_all, log, "rb"),
    )


def _stream(
    copy: Callable[[int, socket.socket], None], descriptor: int, mode: Literal["rb", "wb"]
) -> RawIOBase:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    threading.Thread(target=_run, args=(copy, os.dup(descriptor), theirs), daemon=True).start()
    stream = cast(RawIOBase, ours.makefile(mode, buffering=0))
    ours.close()  # the stream keeps the connection open
    return stream


def _run(copy: Callable[[int, socket.socket], None], descriptor: int, theirs: socket.socket) -> None:
    try:
        with theirs:
            copy(descriptor, theirs)
    except OSError:  # the other end of the pipe or of the socket is closed
        pass
    finally:
        os.close(descriptor)


def _read_all(descriptor: int, theirs: socket.socket) -> None:
    while chunk := os.read(descriptor, CHUNK):
        theirs.sendall(chunk)


def _write_all(descriptor: int, theirs: socket.socket) -> None:
    while chunk := theirs.recv(CHUNK):
        rest = memoryview(chunk)
        while rest:
            rest = rest[os.write(descriptor, rest) :]

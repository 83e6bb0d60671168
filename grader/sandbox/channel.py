"""The conversation with a worker over its three pipes: one loop writes requests and reads replies and output.

Nothing here waits for the worker alone: it may never read a request, or fill the pipe of its output.
"""

from __future__ import annotations

import os
import select
import selectors
import sys
import threading
import time
from io import FileIO, RawIOBase

from grader.sandbox.base import Process

CHUNK = 1 << 16
MAX_RECENT = 64 << 10  # bytes that `recent` stores, of the output of one request
MAX_LOG = 64 << 10  # bytes stored of the start of a long output, and as many of its end
# Seconds of one wait: then output and the event `stop` are read, and on Windows Ctrl-C has an effect. A worker that prints
# little by little should not wake the grader each time, so the first waits are short and later ones longer.
PAUSE, LONGEST_PAUSE = 0.01, 0.1
SETTLE_SECONDS = 2.0
# Seconds after which output that a worker has written can be read.
LATE = 0.02 if sys.platform == "win32" else 0.0


class TooMuchOutput(Exception):
    """The worker printed more than its limit; the message says how much."""


class Stopped(BaseException):
    """The event `stop` is set. `except Exception` catches neither this nor KeyboardInterrupt."""


class Channel:
    """Requests to one worker, replies from it, and what it prints. Only one thread may use it.

    stop: another thread sets it when it no longer needs a reply; `read` then raises Stopped.
    """

    def __init__(self, process: Process, output_bytes: int, stop: threading.Event):
        self._output_bytes, self._stop = output_bytes, stop
        self._pending, self._arrived = bytearray(), bytearray()
        self._log, self._recent = bytearray(), bytearray()
        self._printed = 0
        self._ended = False
        self._requests, self._replies, self._output = _without_waiting(
            process.to_worker, process.from_worker, process.log
        )
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._replies, selectors.EVENT_READ, self._receive)

    @property
    def log(self) -> bytes:
        """All output of the worker so far; if it is long, only its start and its end."""
        return bytes(self._log)

    def forget_recent(self) -> None:
        """Make `recent` empty: it then collects the output of the next request."""
        self._recent.clear()

    @property
    def recent(self) -> bytes:
        """The output of the worker since `forget_recent`, at most its first `MAX_RECENT` bytes."""
        return bytes(self._recent)

    def send(self, data: bytes) -> None:
        """Write `data` to the worker as far as it reads. `read` writes the rest."""
        if not self._pending:
            self._selector.register(self._requests, selectors.EVENT_WRITE, self._write)
        self._pending += data
        self._write()

    def read(self, size: int, deadline: float) -> bytes:
        """Return exactly `size` bytes of replies.

        Raises EOFError if the worker closed its pipe of requests or of replies, TimeoutError at the deadline (of
        `time.monotonic`), TooMuchOutput, and Stopped.
        """
        pause = PAUSE
        while True:
            if self._stop.is_set():
                raise Stopped
            self._require_little_output()
            if len(self._arrived) >= size:
                taken = bytes(self._arrived[:size])
                del self._arrived[:size]
                return taken
            if self._ended:
                raise EOFError
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            ready = self._selector.select(min(left, pause))
            for key, _events in ready:
                key.data()
            if not ready:
                pause = PAUSE if self._store_output() else min(2 * pause, LONGEST_PAUSE)

    def settle(self) -> None:
        """Read, for at most SETTLE_SECONDS, what the worker has printed so far. Raises TooMuchOutput."""
        deadline = time.monotonic() + SETTLE_SECONDS
        while self._more_output() and time.monotonic() < deadline:
            self._require_little_output()
        self._require_little_output()

    def close(self) -> None:
        """Stop reading and writing. The descriptors stay open: the process closes them."""
        self._selector.close()
        for end in (self._requests, self._replies, self._output):
            end.close()

    def _require_little_output(self) -> None:
        if self._printed > self._output_bytes:
            raise TooMuchOutput(f"{self._printed} bytes")

    def _more_output(self) -> bool:
        """Read some of the output; return whether there was any."""
        if self._store_output():
            return True
        if LATE:
            select.select([self._output], [], [], LATE)
        return bool(LATE) and self._store_output()

    def _write(self) -> None:
        try:
            written = self._requests.write(self._pending[:CHUNK])
        except OSError:  # the worker closed its end
            self._ended = True
            self._pending.clear()
        else:
            del self._pending[: written or 0]
        if not self._pending:
            self._selector.unregister(self._requests)

    def _receive(self) -> None:
        chunk = _read(self._replies)
        if chunk == b"":
            self._ended = True
            self._selector.unregister(self._replies)
        self._arrived += chunk or b""

    def _store_output(self) -> bool:
        """Read some of the output; return whether there was any."""
        text = _read(self._output) or b""
        self._log += text
        self._recent += text[: MAX_RECENT - len(self._recent)]
        self._printed += len(text)
        if len(self._log) > 2 * MAX_LOG:
            self._log = self._log[:MAX_LOG] + self._log[-MAX_LOG:]
        return bool(text)


def _without_waiting(to_worker: int, from_worker: int, log: int) -> tuple[RawIOBase, RawIOBase, RawIOBase]:
    """Return streams for three pipes: reading and writing returns None where it would wait."""
    if sys.platform == "win32":
        from grader.sandbox.windows_pipes import as_sockets

        return as_sockets(to_worker, from_worker, log)
    for descriptor in (to_worker, from_worker, log):
        os.set_blocking(descriptor, False)
    return (
        FileIO(to_worker, "wb", closefd=False),
        FileIO(from_worker, closefd=False),
        FileIO(log, closefd=False),
    )


def _read(end: RawIOBase) -> bytes | None:
    """Return what has arrived: None for nothing yet, b"" at the end."""
    try:
        return end.read(CHUNK)
    except OSError:  # of a socket whose other side was closed at once
        return b""

"""The conversation with a worker over its three pipes, with one thread per pipe.

Threads work on every platform: Windows can wait for several sockets, but not for several pipes. Each thread has
its own descriptor and closes it, so no descriptor is closed while another thread uses it.
"""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from queue import SimpleQueue

from grader.sandbox.base import Process

CHUNK = 1 << 16
AHEAD = 1 << 20  # bytes of replies that are read before they are asked for
MAX_RECENT = 4 << 10  # bytes that `recent` stores, of the output of one request
MAX_LOG = 64 << 10  # bytes stored of the start of a long output, and as many of its end
SLICE = 0.1  # seconds of one wait: on Windows, Ctrl-C has an effect only between two waits
SETTLE_SECONDS = 2.0


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
        self._changed = threading.Condition(threading.Lock())
        self._arrived = bytearray()
        self._ended = self._closed = False
        self._log, self._recent = bytearray(), bytearray()
        self._printed = 0
        self._mark, self._marked = b"", False
        self._recent_marks: list[bytes] = []
        self._log_writer = process.log_writer
        self._requests: SimpleQueue[bytes | None] = SimpleQueue()
        for pump, descriptor in (
            (self._pump_requests, process.to_worker),
            (self._pump_replies, process.from_worker),
            (self._pump_log, process.log),
        ):
            run = partial(_run, pump, os.dup(descriptor))
            threading.Thread(target=run, name=f"headway{pump.__name__}", daemon=True).start()

    @property
    def log(self) -> bytes:
        """All output of the worker so far; if it is long, only its start and its end."""
        return bytes(self._log)

    def forget_recent(self) -> None:
        """Make `recent` empty: it then collects the output of the next request."""
        with self._changed:
            self._recent.clear()
            self._recent_marks.clear()

    @property
    def recent(self) -> bytes:
        """The output of the worker since `forget_recent`, at most its first `MAX_RECENT` bytes."""
        with self._changed:
            return _without(self._recent_marks, bytes(self._recent))

    def send(self, data: bytes) -> None:
        """Queue `data` for the worker. Does not wait until it is written: a worker may never read it."""
        self._requests.put(data)

    def read(self, size: int, deadline: float) -> bytes:
        """Return exactly `size` bytes of replies.

        Raises EOFError if the worker closed its pipe of requests or of replies, TimeoutError at the deadline (of
        `time.monotonic`), TooMuchOutput, and Stopped.
        """
        taken = bytearray()
        with self._changed:
            while True:
                if self._stop.is_set():
                    raise Stopped
                self._take(taken, size)
                self._require_little_output()
                if len(taken) == size:
                    return bytes(taken)
                if self._ended:
                    raise EOFError
                left = deadline - time.monotonic()
                if left <= 0:
                    raise TimeoutError
                self._changed.wait(min(left, SLICE))

    def settle(self) -> None:
        """Wait, at most SETTLE_SECONDS, until `log` has all that the worker has printed so far. Raises TooMuchOutput.

        This side writes a mark into the log's pipe. All earlier output comes before the mark.
        """
        # A mark begins with "\0", which code rarely prints. At the end of full output, `_without` takes
        # "\0" for the start of a mark.
        mark = b"\0" + secrets.token_bytes(15)
        with self._changed:
            self._require_little_output()
            self._mark, self._marked = mark, False
            self._recent_marks.append(mark)
        os.write(self._log_writer, mark)
        deadline = time.monotonic() + SETTLE_SECONDS
        with self._changed:
            while not self._marked and time.monotonic() < deadline:
                self._changed.wait(SLICE)
            self._require_little_output()

    def close(self) -> None:
        """Let the threads end, at the latest when the worker has exited. Does not wait for them."""
        self._requests.put(None)
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _take(self, taken: bytearray, size: int) -> None:
        if self._arrived and len(taken) < size:
            part = self._arrived[: size - len(taken)]
            del self._arrived[: len(part)]
            taken += part
            self._changed.notify_all()

    def _require_little_output(self) -> None:
        if self._printed > self._output_bytes:
            raise TooMuchOutput(f"{self._printed} bytes")

    # ---- in the threads

    def _pump_requests(self, descriptor: int) -> None:
        while (data := self._requests.get()) is not None:
            rest = memoryview(data)
            try:
                while rest:
                    rest = rest[os.write(descriptor, rest[:CHUNK]) :]
            except OSError:  # the worker closed its end
                with self._changed:
                    self._ended = True
                    self._changed.notify_all()
                return

    def _pump_replies(self, descriptor: int) -> None:
        while chunk := _read(descriptor):
            with self._changed:
                self._arrived += chunk
                self._changed.notify_all()
                while len(self._arrived) >= AHEAD and not self._closed:
                    self._changed.wait()
                if self._closed:
                    return
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _pump_log(self, descriptor: int) -> None:
        while chunk := _read(descriptor):
            with self._changed:
                self._log += chunk
                self._recent += chunk[: MAX_RECENT - len(self._recent)]
                self._printed += len(chunk)
                self._remove_mark(len(chunk))
                if len(self._log) > 2 * MAX_LOG:
                    self._log = self._log[:MAX_LOG] + self._log[-MAX_LOG:]
                if self._marked or self._printed > self._output_bytes:
                    self._changed.notify_all()

    def _remove_mark(self, new: int) -> None:
        """Remove the mark of `settle` if it is in the log. new: how many bytes were just added."""
        if self._mark and not self._marked:
            place = self._log.find(self._mark, max(0, len(self._log) - new - len(self._mark)))
            if place >= 0:
                del self._log[place : place + len(self._mark)]
                self._printed -= len(self._mark)
                self._marked = True


def _without(marks: Sequence[bytes], printed: bytes) -> bytes:
    """Remove marks, and the beginning of one at the end of a full `printed`."""
    if len(printed) == MAX_RECENT:
        starts = [mark[:size] for mark in marks for size in range(1, len(mark))]
        cut = max((len(start) for start in starts if printed.endswith(start)), default=0)
        printed = printed[: len(printed) - cut]
    for mark in marks:
        printed = printed.replace(mark, b"")
    return printed


def _run(pump: Callable[[int], None], descriptor: int) -> None:
    try:
        pump(descriptor)
    finally:
        os.close(descriptor)


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, CHUNK)
    except OSError:  # on Windows, the other end is closed
        return b""

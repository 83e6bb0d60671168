"""The conversation with a worker over its three pipes, with one thread per pipe.

Threads work on every platform: Windows can wait for several sockets, but not for several pipes. Each thread has
its own descriptor and closes it, so no descriptor is closed while another thread uses it.
"""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue

from grader.sandbox.base import Process

CHUNK = 1 << 16
AHEAD = 1 << 20  # bytes of replies that are read before they are asked for
MAX_RECENT = 64 << 10  # bytes that `recent` stores, of the output of one request
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
        self._mark = b"\0" + secrets.token_bytes(
            15
        )  # "\0", which code rarely prints: then nothing is held back
        self._marks_sent = self._marks_seen = 0
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

    @property
    def recent(self) -> bytes:
        """The output of the worker since `forget_recent`, at most its first `MAX_RECENT` bytes."""
        with self._changed:
            return bytes(self._recent)

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
        with self._changed:
            self._require_little_output()
            self._marks_sent += 1
        os.write(self._log_writer, self._mark)
        deadline = time.monotonic() + SETTLE_SECONDS
        with self._changed:
            while self._marks_seen < self._marks_sent and time.monotonic() < deadline:
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
        held = b""  # what may be the beginning of a mark
        while chunk := _read(descriptor):
            *before_marks, rest = (held + chunk).split(self._mark)
            begun = range(len(self._mark) - 1, 0, -1)
            held = next((self._mark[:n] for n in begun if rest.endswith(self._mark[:n])), b"")
            text = b"".join(before_marks) + rest.removesuffix(held)
            with self._changed:
                self._log += text
                self._recent += text[: MAX_RECENT - len(self._recent)]
                self._printed += len(text)
                self._marks_seen += len(before_marks)
                if len(self._log) > 2 * MAX_LOG:
                    self._log = self._log[:MAX_LOG] + self._log[-MAX_LOG:]
                if before_marks or self._printed > self._output_bytes:
                    self._changed.notify_all()


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

"""Talk to one worker: send requests, read bounded replies, within one deadline.

A worker may stop reading, send without end, send single bytes, or send false data. What it prints is stored up to a
limit, and no verdict depends on it.
"""

from __future__ import annotations

import json
import re
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from grader.sandbox.base import START_SECONDS, Launcher, Limits, Process, SandboxError
from grader.sandbox.channel import Channel, TooMuchOutput
from grader.support.errors import GraderError
from grader.support.i18n import _
from grader.support.sanitize import sanitize
from grader.worker.frames import HEAD

MAX_JSON = 1 << 20
MAX_BODY = 64 << 20
MAX_MESSAGES = 20_000  # frames about one training: ten a second for half an hour
MAX_STEPS, MAX_LOSS = 1_000_000, 1e6


@dataclass(frozen=True)
class Reply:
    """A worker's reply, not checked yet: a JSON object, and bytes that should be safetensors.

    printed: what the worker printed since the request, cut to size.
    """

    words: dict[str, Any]
    body: bytes
    printed: str = ""


@dataclass(frozen=True)
class Training:
    """The state of a training. Student code may have changed it, so it is only for a progress bar."""

    done: int
    steps: int
    loss: float | None


def training_from(value: object) -> Training | None:
    """Read the state of a training, [done, steps, loss]; None if it is impossible.

    If only the loss is impossible, the loss is None.
    """
    if not isinstance(value, list) or len(value) != 3:
        return None
    done, steps, loss = value
    if type(done) is not int or type(steps) is not int or not 0 <= done <= steps <= MAX_STEPS:
        return None
    known = isinstance(loss, (int, float)) and not isinstance(loss, bool) and abs(loss) < MAX_LOSS
    return Training(done, steps, float(loss) if known else None)


def last_line(fault: object) -> str:
    """Return the exception line of a traceback; "" for an empty text."""
    return sanitize("".join(str(fault).strip().splitlines()[-1:]), 300)


class WorkerGone(GraderError):
    """The worker did not answer.

    why: "time", "output" (printed too much), "reply" (sent an impossible reply), "stale" (answered another
    request), "fault" (reported an error of its own), "died". `line`: the student's line that ran when the time was
    over, if it is known. `statement`: the top-level line whose execution led there. `printed`: what student code
    printed since the request.
    """

    exit_status = 3

    def __init__(self, why: str, detail: str = ""):
        super().__init__(f"{why} {detail}".strip())
        self.why = why
        self.detail = detail
        self.line: tuple[str, int] | None = None
        self.statement: tuple[str, int] | None = None
        self.printed = ""


class Session:
    """One worker and its requests and replies. stop: an event; when it is set, `ask` raises Stopped."""

    def __init__(self, launcher: Launcher, limits: Limits, stop: threading.Event | None = None):
        self.limits = limits  # only `wall_seconds` may change; the process has the others from its start
        self.files: frozenset[str] = frozenset()  # the submission's files, to find its lines in a stack
        self._process: Process = launcher.start(limits)
        self._channel = Channel(self._process, limits.output_bytes, stop or threading.Event())
        self._ready = False
        self.closed = False

    def may_serve(self, limits: Limits) -> bool:
        """Whether the worker was started with these limits; wall seconds are set per message."""
        return limits == replace(self.limits, wall_seconds=limits.wall_seconds)

    def ask(
        self,
        request: Mapping[str, Any],
        body: bytes = b"",
        seconds: float | None = None,
        tell: Callable[[Training], None] | None = None,
    ) -> Reply:
        """Send a request and wait for its reply.

        seconds: the time limit; by default, `limits.wall_seconds`. tell: called with the state of a training, as the
        worker reports it. Raises WorkerGone, and SandboxError if the worker did not start or its server exited; both end
        the session.
        """
        self._await_ready()
        seconds = self.limits.wall_seconds if seconds is None else seconds
        token = secrets.token_hex(8)  # a frame that was written before this request cannot answer it
        # The worker prints its stack a little earlier, so that a busy machine also prints before the limit.
        stack_after = seconds - max(0.05 * seconds, min(0.25, seconds / 2))
        message = {**request, "timeout": stack_after, "token": token}
        words = json.dumps(message, default=msgspec.to_builtins).encode()
        started = time.monotonic()
        self._channel.forget_recent()
        try:
            self._channel.send(HEAD.pack(len(words), len(body)) + words + body)
            raw, tensors = self._reply(started + seconds, tell)
            self._settle()
            if raw.pop("token", None) != token:
                raise WorkerGone("stale", _("a reply to another request"))
        except WorkerGone as gone:
            if stack := self._lines():
                gone.line, gone.statement = stack[0], stack[-1]
            gone.printed = self._recently_printed().partition("Timeout (")[0]  # without the worker's stack
            self.close()
            raise
        except SandboxError:  # the server of the workers has exited
            self.close()
            raise
        return Reply(raw, tensors, self._recently_printed())

    def _recently_printed(self) -> str:
        return self._channel.recent.decode("utf-8", "replace")

    def _reply(
        self, deadline: float, tell: Callable[[Training], None] | None
    ) -> tuple[dict[str, Any], bytes]:
        """Pass messages about a training to `tell`. Return the first other frame."""
        for _message in range(MAX_MESSAGES):
            words, body = self._receive(deadline)
            if "progress" not in words:
                return words, body
            training = training_from(words["progress"])
            if training is None or body:
                break
            if tell is not None:
                tell(training)
        raise WorkerGone("reply", _("an impossible progress message"))

    @property
    def printed(self) -> str:
        """Return what student code printed so far, cut to size."""
        return self._channel.log.decode("utf-8", "replace")

    def close(self) -> None:
        """End the worker. Safe to call twice."""
        self.closed = True
        self._channel.close()
        self._process.close()

    def _await_ready(self) -> None:
        """Wait for the first frame, which says that torch is imported. No student code has run then."""
        if self._ready:
            return
        try:
            hello, _ = self._receive(time.monotonic() + START_SECONDS)
        except WorkerGone as gone:
            self.close()
            said = self.printed.strip().splitlines()
            raise SandboxError(
                f"the worker did not start ({gone}): {said[-1] if said else 'it printed nothing'}"
            ) from None
        if "ready" not in hello:
            self.close()
            raise SandboxError("the worker did not start: it sent an unexpected first message")
        self._ready = True

    def _receive(self, deadline: float) -> tuple[dict[str, Any], bytes]:
        json_size, body_size = HEAD.unpack(self._read(HEAD.size, deadline))
        if json_size > MAX_JSON or body_size > MAX_BODY:
            raise WorkerGone("reply", f"a reply of {json_size + body_size} bytes")
        try:
            words = _json(self._read(json_size, deadline))
        except (ValueError, RecursionError):
            raise WorkerGone("reply", "a reply that is not JSON") from None
        if not isinstance(words, dict):
            raise WorkerGone("reply", "a reply that is not an object")
        return words, self._read(body_size, deadline)

    def _read(self, size: int, deadline: float) -> bytes:
        try:
            return self._channel.read(size, deadline)
        except TooMuchOutput as much:
            raise WorkerGone("output", str(much)) from None
        except TimeoutError:
            raise WorkerGone("time") from None
        except EOFError:
            self._process.kill()
            end = self._process.wait()
            self._settle()
            how = f"exit {end}" if end >= 0 else f"signal {-end}"
            raise WorkerGone("died", how) from None

    def _settle(self) -> None:
        """Wait until everything that the worker printed has arrived. Raises WorkerGone if it is too much."""
        try:
            self._channel.settle()
        except TooMuchOutput as much:
            raise WorkerGone("output", str(much)) from None

    def _lines(self) -> list[tuple[str, int]]:
        """Return the submission's lines in the stack that the worker's watchdog printed, the innermost first."""
        try:
            self._settle()
        except WorkerGone:
            return []
        printed = self.printed
        stack = printed[max(printed.rfind("Timeout ("), printed.rfind("(most recent call first)")) :]
        spelled = {file.encode("ascii", "backslashreplace").decode(): file for file in self.files}
        lines = [line for line in stack.splitlines()[:MAX_FRAMES] if len(line) <= MAX_FRAME]
        found = [match for line in lines if (match := _FRAME.match(line))]
        return [(spelled[match[1]], int(match[2])) for match in found if match[1] in spelled]


# A line of a stack as Python's `faulthandler` prints it. Student code can print the same: both the number of
# lines and their length are bounded, so that the search stays fast.
_FRAME = re.compile(r'\s{0,8}File "([^\n]{1,400})", line (\d{1,7})\b')
MAX_FRAMES, MAX_FRAME = 1000, 500


def _json(raw: bytes) -> Any:
    """Parse JSON from a worker, and replace lone surrogates. Raises ValueError or RecursionError.

    Python's `json` reads the escape of half a surrogate pair as a character that cannot be encoded.
    """
    value = json.loads(raw.decode("utf-8"))
    if b"\\ud" in raw.lower():
        value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8"))
    return value

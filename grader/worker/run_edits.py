"""Run one case on edited forms of a loaded file, one after the other."""

from __future__ import annotations

import contextlib
import io
import signal
import sys
import time
from collections.abc import Collection, Iterator, Mapping
from types import FrameType
from typing import Any

import safetensors.torch

from grader.worker.load import Loaded
from grader.worker.program import Program
from grader.worker.tensor_copies import packed

MAX_LINES = 5000  # that a reply names


def try_edits(
    loaded: Loaded, request: Mapping[str, Any], body: bytes, device: str
) -> tuple[dict[str, Any], bytes]:
    """Observe a case once per edit. An edit replaces one top-level statement: `{"file", "source"}`.

    The reply has the words of each observation, the bytes of its tensors, and the CPU seconds of all; if the request
    asks for `lines`, also the lines of the submission that ran. No edit is begun that may take longer than is left.
    """
    tries: list[dict[str, Any]] = []
    bodies: list[bytes] = []
    lines: set[tuple[str, int]] = set()
    started, longest = time.process_time(), 0.0
    for edit in request["edits"]:
        begun = time.process_time() - started
        if tries and begun + longest > request["seconds"]:
            break
        limit = max(min(request["each"], request["seconds"] - begun), 0.01)
        with _noting(loaded.files, lines) if request["lines"] else contextlib.nullcontext():
            words, tensors = _try(loaded, edit, request["case"], body, device, limit)
        tries.append({**words, "bytes": len(tensors)})
        bodies.append(tensors)
        longest = max(longest, time.process_time() - started - begun)
    reply = {"tries": tries, "cpu": time.process_time() - started, "lines": sorted(lines)[:MAX_LINES]}
    return reply, b"".join(bodies)


@contextlib.contextmanager
def _noting(files: Collection[str], lines: set[tuple[str, int]]) -> Iterator[None]:
    """Add every line of these files that runs."""

    def note(frame: FrameType, event: str, _value: object) -> Any:
        if frame.f_code.co_filename not in files:
            return None
        if event == "line":
            lines.add((frame.f_code.co_filename, frame.f_lineno))
        return note

    before = sys.gettrace()
    sys.settrace(note)
    try:
        yield
    finally:
        sys.settrace(before)


def _try(
    loaded: Loaded,
    edit: Mapping[str, Any],
    case: Mapping[str, Any],
    body: bytes,
    device: str,
    seconds: float,
) -> tuple[dict[str, Any], bytes]:
    before = dict(loaded.names)
    try:
        with (
            contextlib.redirect_stdout(_Discard()),
            contextlib.redirect_stderr(_Discard()),
            _limit(seconds),
        ):
            exec(compile(edit["source"], edit["file"], "exec", dont_inherit=True), loaded.names)
            tensors = safetensors.torch.load(body) if body else {}
            program = Program(loaded.names, case, tensors, device, loaded.with_own)
            program.run(loaded.files)
            return program.reply, packed(program.observed) if program.observed else b""
    except BaseException as error:
        return {"error": {"type": type(error).__name__, "message": "", "where": None, "step": "load"}}, b""
    finally:
        loaded.names.clear()
        loaded.names.update(before)


class _Discard(io.TextIOBase):
    """A stream that stores nothing."""

    def write(self, text: str) -> int:
        return len(text)


class _TooLongError(BaseException):
    """An edited form took longer than it may."""


@contextlib.contextmanager
def _limit(seconds: float) -> Iterator[None]:
    """Interrupt Python code after this CPU time. On a system without a timer, only the timeout of the parent
    applies.
    """
    if sys.platform == "win32":
        yield
        return

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise _TooLongError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, 0.05)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)

"""Run one case on edited forms of a loaded file, one after the other."""

from __future__ import annotations

import contextlib
import io
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any

import safetensors.torch

from grader.worker.load import Loaded
from grader.worker.program import Program
from grader.worker.tensor_copies import packed


def try_edits(
    loaded: Loaded, request: Mapping[str, Any], body: bytes, device: str
) -> tuple[dict[str, Any], bytes]:
    """Observe a case once per edit. An edit replaces one top-level statement: `{"file", "source"}`.

    The reply has the words of each observation, the bytes of its tensors, and the CPU seconds of all.
    """
    tries, bodies = [], []
    started = time.process_time()
    for edit in request["edits"]:
        words, tensors = _try(loaded, edit, request, body, device)
        tries.append({**words, "bytes": len(tensors)})
        bodies.append(tensors)
        if time.process_time() - started > request["seconds"]:
            break
    return {"tries": tries, "cpu": time.process_time() - started}, b"".join(bodies)


def _try(
    loaded: Loaded, edit: Mapping[str, Any], request: Mapping[str, Any], body: bytes, device: str
) -> tuple[dict[str, Any], bytes]:
    before = dict(loaded.names)
    try:
        with (
            contextlib.redirect_stdout(_Discard()),
            contextlib.redirect_stderr(_Discard()),
            _limit(request["each"]),
        ):
            exec(compile(edit["source"], edit["file"], "exec", dont_inherit=True), loaded.names)
            tensors = safetensors.torch.load(body) if body else {}
            program = Program(loaded.names, request["case"], tensors, device, loaded.with_own)
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

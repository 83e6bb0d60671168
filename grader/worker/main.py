"""The worker's loop: read a request, carry it out, reply with what was observed."""

from __future__ import annotations

import faulthandler
import gc
import linecache
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec
import safetensors.torch
import torch

from grader.worker import random_seeds, rehearsal, stand_in_modules
from grader.worker.frames import END_OF_CASE, read_frame, write_frame
from grader.worker.load import Begin, Files, Loaded, load
from grader.worker.program import Program
from grader.worker.results import packed
from grader.worker.run_edits import try_edits
from grader.worker.steps import Asked, from_body
from grader.worker.time_limit import LoadLimit
from grader.worker.training_progress import Progress, ignore_progress

MAX_TOGETHER = 1 << 20  # bytes of results; after more, the worker runs no further case of the request


def serve(request_fd: int, reply_fd: int) -> None:
    """Answer requests until the parent closes its pipe."""
    torch.set_num_threads(1)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(line_buffering=True, write_through=True)
    loaded: Loaded | None = None
    device = "cpu"
    write_frame(reply_fd, {"ready": torch.__version__})
    while True:
        try:
            request, body = read_frame(request_fd)
        except EOFError:
            return
        reply: dict[str, Any]
        try:
            # If the request takes longer than its timeout, this prints the stack, which has the line that runs.
            # It is cancelled below.
            faulthandler.dump_traceback_later(request["timeout"], file=sys.__stderr__ or 2)
            if request["op"] == "load":
                device = _device(request.get("device", "cpu"))
                limit = LoadLimit(request["seconds"])
                with limit.running():
                    loaded = _load(request, limit.begin)
                reply = {"late": limit.statement}
                if not limit.is_over:
                    assert loaded is not None
                    reply = {"names": _names(loaded), "notes": loaded.notes, "own": sorted(loaded.own)}
                tensors = b""
            elif request["op"] == "try":
                assert loaded is not None
                _exactly(device)
                (asked,) = from_body(body)
                reply, tensors = try_edits(loaded, device, request, asked)
            elif request["op"] == "run_all":
                assert loaded is not None
                reply, tensors = _run_all(loaded, from_body(body), device)
            else:
                assert loaded is not None
                progress = partial(_send_progress, reply_fd, request.get("token"))
                (asked,) = from_body(body)
                reply, tensors = _run(loaded, asked, device, progress)
        except BaseException:
            # The parent then grades a simple file, to find out whether the grader is at fault.
            reply, tensors = {"fault": traceback.format_exc()[-2000:]}, b""
        finally:
            faulthandler.cancel_dump_traceback_later()
        write_frame(reply_fd, {**reply, "token": request.get("token")}, tensors)


def rehearse() -> None:
    """Load a file and run its cases, so that later cases of this process, and of workers forked from it, run faster."""
    loaded = _load(rehearsal.LOAD)
    for asked in rehearsal.cases():
        _run(loaded, asked, "cpu", ignore_progress)
    stand_in_modules.remove()
    linecache.clearcache()


def _load(request: dict[str, Any], begin: Begin = lambda file, line: None) -> Loaded:
    random_seeds.start(0)
    return load(msgspec.convert(request, Files), begin)


def _device(asked: str) -> str:
    """Set up the requested device before student code runs. Return torch's name for it."""
    if asked == "sim":
        from grader.worker import sim

        sim.register()
        return str(sim.place())
    return asked


def _exactly(device: str) -> None:
    """Make the GPU compute in the dtype of its inputs, and give gradients of recurrent layers in eval mode too.

    Call this before every case, because student code may change these settings.
    """
    if device != "cuda":
        return
    matmul = torch.backends.cuda.matmul
    torch.set_float32_matmul_precision("highest")
    matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.enabled = False  # its recurrent layers have no gradients in eval mode
    matmul.allow_fp16_reduced_precision_reduction = False
    matmul.allow_bf16_reduced_precision_reduction = False


def _names(loaded: Loaded) -> list[str]:
    return [name for name in loaded.names if isinstance(name, str) and not name.startswith("__")][:5000]


def _send_progress(reply_fd: int, token: object, done: int, steps: int, loss: float | None) -> None:
    """Send how many steps of a training are done. The reply to the request comes later."""
    write_frame(reply_fd, {"progress": [done, steps, loss], "token": token})


def _run_all(loaded: Loaded, cases: Sequence[Asked], device: str) -> tuple[dict[str, Any], bytes]:
    """Run several cases in their order. Stop early if the results are large: all of them are in memory at once."""
    replies: list[dict[str, Any]] = []
    bodies: list[bytes] = []
    for asked in cases:
        reply, tensors = _run(loaded, asked, device, ignore_progress)
        with suppress(OSError, ValueError, AttributeError):  # code may have closed or replaced it
            print(end=END_OF_CASE, flush=True)
        replies.append(reply)
        bodies.append(tensors)
        if sum(map(len, bodies)) > MAX_TOGETHER:
            break
    gc.collect(0)
    return {"replies": replies, "sizes": [len(one) for one in bodies]}, b"".join(bodies)


def _run(loaded: Loaded, asked: Asked, device: str, progress: Progress) -> tuple[dict[str, Any], bytes]:
    _exactly(device)
    tensors = safetensors.torch.load(asked.tensors) if asked.tensors else {}
    program = Program(loaded.names, asked.run, tensors, device, loaded.with_own, progress, loaded.removed)
    program.run(loaded.files)
    return program.reply, packed(program.observed) if program.observed else b""

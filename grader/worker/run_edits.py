"""Run one case on edited versions of a loaded file, one after the other."""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Collection, Iterator, Mapping
from types import FunctionType
from typing import Any

import safetensors.torch

from grader.worker.load import Loaded
from grader.worker.program import Program
from grader.worker.results import packed
from grader.worker.steps import Asked
from grader.worker.time_limit import cpu_limit


def try_edits(
    loaded: Loaded, device: str, request: Mapping[str, Any], asked: Asked
) -> tuple[dict[str, Any], bytes]:
    """Observe a case once per edit. Return the reply and the tensors of all observations.

    An edit is `{"file", "source"}`. The source is a top-level statement that takes the place of another; of a class, it
    may have only the methods that change. "" changes nothing.

    For each edit, the reply has the observation without its tensors (`replies`), and their size in bytes (`sizes`). It
    also has the CPU seconds of all edits.

    In the request, `each` limits the CPU seconds of one edit, and `seconds` those of all edits. The first edit always
    runs; a later one only if the longest edit so far would fit in the seconds that are left.
    """
    tensors = safetensors.torch.load(asked.tensors) if asked.tensors else {}
    replies: list[dict[str, Any]] = []
    bodies: list[bytes] = []
    started, longest = time.process_time(), 0.0
    for edit in request["edits"]:
        begun = time.process_time() - started
        if replies and begun + longest > request["seconds"]:
            break
        limit = max(min(request["each"], request["seconds"] - begun), 0.01)  # 0 would set no timer
        inputs = {name: tensor.clone() for name, tensor in tensors.items()}
        program = _BriefProgram(loaded.names, asked.run, inputs, device, loaded.with_own)
        words, observed = _try(loaded, program, edit, limit)
        replies.append(words)
        bodies.append(observed)
        longest = max(longest, time.process_time() - started - begun)
    cpu = time.process_time() - started
    return {"replies": replies, "sizes": list(map(len, bodies)), "cpu": cpu}, b"".join(bodies)


class _BriefProgram(Program):
    """A program that reports only the type of an exception: a description takes longer than most edits take to run."""

    def _described(self, error: BaseException, files: Collection[str]) -> dict[str, Any]:
        return _brief(error)


def _brief(error: BaseException) -> dict[str, Any]:
    return {"type": type(error).__name__, "message": "", "where": None}


def _try(
    loaded: Loaded, program: Program, edit: Mapping[str, Any], seconds: float
) -> tuple[dict[str, Any], bytes]:
    """Run a program on one edit, for at most this CPU time, and discard what it prints. Then undo the edit."""
    before, nowhere = dict(loaded.names), io.StringIO()
    try:
        with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere), cpu_limit(seconds):
            with _edited(loaded.names, edit):
                program.run(loaded.files)
            return program.reply, packed(program.observed) if program.observed else b""
    except BaseException as error:
        return {"error": _brief(error) | {"step": "load"}}, b""
    finally:
        loaded.names.clear()
        loaded.names.update(before)


@contextlib.contextmanager
def _edited(names: dict[str, Any], edit: Mapping[str, Any]) -> Iterator[None]:
    """Apply an edit: functions and methods of the file get the code of those in the edited statement.

    So whatever holds a function, such as a table or a subclass, has the edited one. Afterwards all is as before, but
    `names`, which the caller restores.
    """
    inside = dict(names)
    exec(compile(edit["source"], edit["file"], "exec", dont_inherit=True), inside)
    with contextlib.ExitStack() as undo:
        for name, new in inside.items():
            old = names.get(name)
            if new is old:
                continue
            if isinstance(new, type) and isinstance(old, type):
                for key, method in vars(new).items():
                    _exchanged(vars(old).get(key), method, undo)
            elif not _exchanged(old, new, undo):
                names[name] = new
        yield


def _exchanged(old: Any, new: Any, undo: contextlib.ExitStack) -> bool:
    """Give a function the code of another one until `undo` ends; False if that is not possible."""
    if not type(old) is type(new) is FunctionType or old.__code__.co_freevars != new.__code__.co_freevars:
        return False
    for field in ("__code__", "__defaults__"):
        undo.callback(setattr, old, field, getattr(old, field))
        setattr(old, field, getattr(new, field))
    return True

"""Describe an exception that student code raised, a GPU out of memory, and a worker that was lost."""

from __future__ import annotations

import builtins
import re

from grader.judge.observation import StudentError
from grader.report.finding import EXCEPTION, CodeLine, Fact, Finding
from grader.support.sanitize import sanitize

GIB = 1 << 30
_ALLOCATION = re.compile(r"can't allocate memory: you tried to allocate (\d{1,30}) bytes")
_NUMPY = re.compile(r"(Can't call numpy\(\) on Tensor that requires grad)")
# Some libraries of CUDA raise a general exception, and only its message says that memory ran out.
_GPU_MEMORY = re.compile(r"CUDA error: out of memory|CU\w+_STATUS_ALLOC_FAILED")
_MODULE = re.compile(r"No module named '(?P<module>[\w.]{1,80})'")


def of_error(error: StudentError, faulty: bool | None = None) -> Finding:
    """Return an exception as a finding: what was raised and where, and what to do if its message does not say it.

    faulty: whether the module is faulty that the submission, a test, was called on; None if it is no test.

    torch's advice to call `.detach()` is left out (see `_NUMPY`): it would cut off the gradient. For a debugger the
    line is left out: without a keyboard, it stops on the line after the call.
    """
    if error.starts_debugger:
        return Finding("exception/debugger")
    place = None if error.where is None else CodeLine(*error.where)
    data = {"builtin": error.type if _is_builtin(error.type) else None}
    if found := _ALLOCATION.search(error.message):
        return Finding("exception/memory", data | {"size": int(found[1]) / GIB}, place)
    if error.ends_python:
        return Finding("exception/exit", data, place)
    said = _NUMPY.search(error.message)
    text = said[1] if said else error.message
    kind = sanitize(error.type, 100)
    data |= {"what": f"{kind}: {sanitize(text, 500)}" if text else kind}
    if error.provided and faulty is not None:
        return Finding(EXCEPTION, data, place, advice=Fact("advice/faulty" if faulty else "advice/correct"))
    return Finding(EXCEPTION, data, place, advice=_advice(error))


def _is_builtin(name: str) -> bool:
    """Whether an exception is one of Python's own. A student could choose any other name."""
    found = getattr(builtins, name, None)
    return isinstance(found, type) and issubclass(found, BaseException)


def _advice(error: StudentError) -> Fact | None:
    if error.set_by:
        name, file, line = error.set_by
        reader, read = error.where[:2] if error.where else (None, None)
        data = {"reader": reader, "read": read, "name": sanitize(name, 100), "file": file, "line": line}
        return Fact("advice/demonstration", data)
    if error.near:
        return Fact("advice/near", {"near": sanitize(error.near, 60)})
    found = _MODULE.search(error.message)
    return Fact("advice/module", found.groupdict()) if found else None


def ran_out_of_memory(error: StudentError) -> bool:
    """Whether a GPU ran out of memory. The answer is not to blame: before, it ran on the CPU with limited memory."""
    may_be = error.type in ("RuntimeError", "AcceleratorError")
    return error.type == "OutOfMemoryError" or (may_be and bool(_GPU_MEMORY.search(error.message)))


def of_gpu_memory(error: StudentError) -> Finding:
    """Return a GPU out of memory as a finding."""
    said = error.message.splitlines()
    return Finding("no-memory", {"error": sanitize(said[0], 200) if said else None})


_LOST = {"time": "lost/time", "output": "lost/output", "fault": "lost/fault"} | dict.fromkeys(
    ("reply", "stale"), "lost/reply"
)


def of_lost(why: str, detail: str, place: tuple[str, int] | None = None) -> Finding:
    """Return a worker that was lost as a finding.

    why: as in `WorkerGone`. detail: the seconds after which code was stopped, an exit code, a size or an exception.
    place: the file and the line that ran.
    """
    shown = sanitize(detail, 200) or None
    # Student code does not choose the seconds, but it may choose other details.
    data = {"seconds": shown} if why == "time" else {"detail": shown}
    return Finding(_LOST.get(why, "lost/died"), data, place and CodeLine(*place))

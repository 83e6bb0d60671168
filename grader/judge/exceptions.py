"""The sentences about an exception that student code raised, a GPU out of memory, and a worker that was lost."""

from __future__ import annotations

import re

from grader.judge.observation import StudentError
from grader.support.i18n import _
from grader.support.sanitize import sanitize

GIB = 1 << 30
_ALLOCATION = re.compile(r"can't allocate memory: you tried to allocate (\d{1,30}) bytes")
_NUMPY = re.compile(r"(Can't call numpy\(\) on Tensor that requires grad)")
# Some libraries of CUDA raise a general exception, and only its message says that memory ran out.
_GPU_MEMORY = re.compile(r"CUDA error: out of memory|CU\w+_STATUS_ALLOC_FAILED")
_MODULE = re.compile(r"No module named '([\w.]{1,80})'")


def raised(error: StudentError, faulty: bool | None = None) -> str:
    """Return one sentence or two: what was raised, and what to do if the exception's message does not say it.

    faulty: whether the module is faulty that the submission, a test, was called on; None if it is no test.

    torch's advice to call `.detach()` is left out (see `_NUMPY`): it would cut off the gradient.
    """
    if found := _ALLOCATION.search(error.message):
        size = int(found[1]) / GIB
        return _("out of memory: the code asked for {size:,.1f} GiB at once").format(size=size)
    if error.ends_python:
        return _("the code ends Python: remove `exit`, `quit` or `sys.exit`")
    if error.starts_debugger:
        return debugger_message()
    said = _NUMPY.search(error.message)
    text = said[1] if said else error.message
    kind = sanitize(error.type, 100)
    what = _("raised {what}").format(what=f"{kind}: {sanitize(text, 500)}" if text else kind)
    advice = from_module(faulty) if error.provided and faulty is not None else _advice(error)
    return f"{what.rstrip('.')}. {advice}" if advice else what


def from_module(faulty: bool) -> str:
    """Return what an exception of the module that a student's test was called on means for the test."""
    if faulty:
        return _("The faulty module raised this inside your test. A test must return True then.")
    return _("A correct module raised this inside your test. Check what the test passes to it.")


def debugger_message() -> str:
    """Return a sentence about code that starts a debugger. It quotes no student code, so hidden cases may show it."""
    return _("the code starts a debugger: remove `breakpoint` or `set_trace`")


def _advice(error: StudentError) -> str:
    if error.set_by:
        name, file, line = sanitize(error.set_by[0], 100), sanitize(error.set_by[1]), error.set_by[2]
        if error.where is None:
            says = _(
                "Only the demonstration in {file}, line {line} sets `{name}`. While an exercise is graded, demonstrations are"
                " not there: pass `{name}` as an argument, or create it in your function or class."
            )
            return says.format(name=name, file=file, line=line)
        says = _(
            "{reader}, line {read} reads `{name}`, which only the demonstration in {file}, line {line} sets. While an"
            " exercise is graded, demonstrations are not there: pass `{name}` as an argument, or create it in your"
            " function or class."
        )
        reader, read = sanitize(error.where[0]), error.where[1]
        return says.format(reader=reader, read=read, name=name, file=file, line=line)
    if error.near:
        return _("Did you mean `{near}`?").format(near=sanitize(error.near, 60))
    if found := _MODULE.search(error.message):
        return _("If `{module}` is a file of yours, put it beside this one.").format(module=found[1])
    if _NUMPY.search(error.message):
        return _("NumPy computes no gradients: use functions of torch.")
    if error.type == "RecursionError":
        return _("A function calls itself without end.")
    if "'NoneType' object" in error.message or "and 'NoneType'" in error.message:
        return _("A value is None here.")
    if "Boolean value of Tensor with more than one value" in error.message:
        return _("`if`, `and`, `or` and `not` need a single value.")
    return ""


def ran_out_of_memory(error: StudentError) -> bool:
    """Whether a GPU ran out of memory. The answer is not to blame: before, it ran on the CPU with limited memory."""
    return error.type == "OutOfMemoryError" or (
        error.type in ("RuntimeError", "AcceleratorError") and bool(_GPU_MEMORY.search(error.message))
    )


def out_of_memory_message(error: StudentError | None = None) -> str:
    """Return a sentence about a GPU out of memory. Without an error it quotes nothing, so hidden cases may show it."""
    says = _("GPU out of memory: close other programs and run the check again")
    if error is None or not error.message:
        return says
    return _("{sentence} ({error})").format(sentence=says, error=sanitize(error.message.splitlines()[0], 200))


def lost_message(why: str, detail: str) -> str:
    """Return one sentence about a worker that was lost while a case ran.

    why: as in `WorkerGone`. detail: seconds, an exit code, a size or an exception.
    """
    if why == "time" and detail:
        return _("stopped after {seconds} seconds; is there a loop that never ends?").format(seconds=detail)
    says = {
        "time": _("stopped: time limit exceeded"),
        "output": _("stopped: too much output"),
        "reply": _("stopped: the worker process sent an invalid result"),
        "stale": _("stopped: the worker process sent an invalid result"),
        "fault": _("the worker failed twice while it ran your code"),
    }.get(why, _("the worker process ended twice while it ran your code"))
    return f"{says} ({detail})" if detail else says

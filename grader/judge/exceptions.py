"""The sentences of a report about an exception that student code raised."""

from __future__ import annotations

import re
from collections.abc import Callable

from grader.judge.observation import StudentError
from grader.support.i18n import _
from grader.support.sanitize import sanitize

GIB = 1 << 30
_ALLOCATION = re.compile(r"can't allocate memory: you tried to allocate (\d{1,30}) bytes")
_NUMPY = re.compile(r"(Can't call numpy\(\) on Tensor that requires grad)")
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
    """Return what to do; "" if nothing is certain."""
    if error.set_by:
        return _set_by_demonstration(error.set_by, error.where)
    if error.near:
        return _("Did you mean `{near}`?").format(near=sanitize(error.near, 60))
    if found := _MODULE.search(error.message):
        return _("If `{module}` is a file of yours, put it beside this one.").format(module=found[1])
    return next((says for is_it, says in _known() if is_it(error)), "")


def _set_by_demonstration(set_by: tuple[str, str, int], where: tuple[str, int, str] | None) -> str:
    """Return what to do about a name that only a demonstration sets. where: the line that reads the name."""
    name, file, line = sanitize(set_by[0], 100), sanitize(set_by[1]), set_by[2]
    if where is not None:
        says = _(
            "{reader}, line {read} reads `{name}`, which only the demonstration in {file}, line {line} sets. While an"
            " exercise is graded, demonstrations are not there: pass `{name}` as an argument, or create it in your"
            " function or class."
        )
        return says.format(reader=sanitize(where[0]), read=where[1], name=name, file=file, line=line)
    says = _(
        "Only the demonstration in {file}, line {line} sets `{name}`. While an exercise is graded, demonstrations are"
        " not there: pass `{name}` as an argument, or create it in your function or class."
    )
    return says.format(name=name, file=file, line=line)


def _known() -> tuple[tuple[Callable[[StudentError], bool], str], ...]:
    """Return pairs: a function that recognises an exception, and the advice about it."""
    return (
        (
            lambda error: bool(_NUMPY.search(error.message)),
            _("NumPy computes no gradients: use functions of torch."),
        ),
        (lambda error: error.type == "RecursionError", _("A function calls itself without end.")),
        (
            lambda error: "'NoneType' object" in error.message or "and 'NoneType'" in error.message,
            _("A value is None here."),
        ),
        (
            lambda error: "Boolean value of Tensor with more than one value" in error.message,
            _("`if`, `and`, `or` and `not` need a single value."),
        ),
    )

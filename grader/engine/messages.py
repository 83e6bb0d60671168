"""What a report says of a submission that did not load, did not end, or took another way: one sentence each."""

from __future__ import annotations

from collections.abc import Mapping

from grader.engine.session import WorkerGone
from grader.intake.policy import Use
from grader.judge.observation import StudentError
from grader.support.i18n import _
from grader.support.sanitize import sanitize


def last_line(fault: object) -> str:
    """Of a traceback, what was raised; "" where there is none."""
    return sanitize(str(fault).strip().splitlines()[-1] if str(fault).strip() else "", 300)


def _at(gone: WorkerGone) -> str:
    return (
        "" if gone.line is None else _(" at {file}, line {line}").format(file=gone.line[0], line=gone.line[1])
    )


def how_it_ended(gone: WorkerGone, hidden: bool = False) -> str:
    """One sentence about a worker that was lost; of a hidden case without the numbers that its code could choose."""
    much = "" if hidden or not gone.detail else f" ({sanitize(gone.detail, 200)})"
    if gone.why == "time":
        return _("stopped: its time ran out{at}").format(at=_at(gone))
    if gone.why == "output":
        return _("stopped: it printed without end{much}").format(much=much)
    if gone.why in ("reply", "stale"):
        return _("stopped: what it sent back cannot be a result{much}").format(much=much)
    if gone.why == "fault":
        return _("it broke the worker, which does well without it, twice{much}").format(much=much)
    return _("it ended the process{much}, twice").format(much=much)


def how_loading_ended(gone: WorkerGone) -> str:
    """One sentence about a worker that was lost before any case ran."""
    if gone.why == "time":
        return _("the file did not finish loading: its top-level code does not end{at}").format(at=_at(gone))
    return _("the file could not be loaded: {how}").format(how=how_it_ended(gone))


def of_use(use: Use, costs: float) -> str:
    """A remark on a call that does what the exercise is about. costs: the share of the points that go, from 0 to 1."""
    place = _(" ({file}, line {line})").format(file=sanitize(use.unit), line=use.line) if use.unit else ""
    told = _("uses {call}{place}, which this exercise is about; your instructor may ask you to write it out")
    cost = _(" (it costs {share:.0%} of the points)").format(share=costs) if costs else ""
    return told.format(call=use.call, place=place) + cost


def of_layout(layout: str, hidden: bool) -> str:
    """The name comes from beside student code: it may hold anything, a hidden input too."""
    return _("weights were loaded from another layout") + ("" if hidden else f": {sanitize(_(layout), 100)}")


def of_note(note: Mapping[str, object], error: StudentError) -> str:
    """ "masking.py, line 3: NameError: name 'torhc' is not defined"."""
    line = error.where[1] if error.where is not None else note.get("line")
    file = error.where[0] if error.where is not None else note.get("file")
    return _("{file}, line {line}: {type}: {message}").format(
        file=file, line=line, type=error.type, message=error.message
    )

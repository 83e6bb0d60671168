"""Sentences about a submission that did not load, its forbidden calls, and the layout of its weights."""

from __future__ import annotations

from collections.abc import Mapping

from grader.engine.session import WorkerGone
from grader.intake.forbidden_calls import Use
from grader.judge.lost import lost_message
from grader.judge.observation import StudentError
from grader.support.i18n import _
from grader.support.sanitize import sanitize


def last_line(fault: object) -> str:
    """Return the exception line of a traceback; "" for an empty text."""
    text = str(fault).strip()
    return sanitize(text.splitlines()[-1] if text else "", 300)


def place_of(gone: WorkerGone) -> str:
    """Return the line of the submission that ran when the time limit was reached; "" if it is not known."""
    if gone.line is None:
        return ""
    file, line = gone.line
    return _("{file}, line {line}").format(file=sanitize(file), line=line)


def how_loading_ended(gone: WorkerGone) -> str:
    """Return one sentence about a worker that was lost before any case ran."""
    if gone.why == "time" and gone.line is not None:
        return _("the file could not be loaded: its top-level code did not finish at {place}").format(
            place=place_of(gone)
        )
    if gone.why == "time":
        return _("the file could not be loaded: its top-level code did not finish")
    detail = sanitize(gone.detail, 200)
    return _("the file could not be loaded: {how}").format(how=lost_message(gone.why, detail))


def of_use(use: Use, costs: float) -> str:
    """Return a remark on a call that computes what the exercise asks the student to write.

    costs: the share of the points that the call costs, from 0 to 1.
    """
    place = (
        f" ({_('{file}, line {line}').format(file=sanitize(use.unit), line=use.line)})" if use.unit else ""
    )
    if costs:
        return _(
            "uses {call}{place}, which you are asked to implement yourself (−{share:.0%} of the points)"
        ).format(call=use.call, place=place, share=costs)
    return _("uses {call}{place}, which you are asked to implement yourself").format(
        call=use.call, place=place
    )


def of_layout(layout: str) -> str:
    """Return a remark on weights whose names differ from the reference's. The worker reports the layout."""
    return _("parameters were matched by shape, not by name (layout: {layout})").format(
        layout=sanitize(_(layout), 100)
    )


def of_note(note: Mapping[str, object], error: StudentError) -> str:
    """Return a text such as "masking.py, line 3: NameError: name 'torhc' is not defined"."""
    line = error.where[1] if error.where is not None else note.get("line")
    file = error.where[0] if error.where is not None else note.get("file")
    return _("{file}, line {line}: {type}: {message}").format(
        file=file, line=line, type=error.type, message=error.message
    )

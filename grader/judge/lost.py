"""One sentence about a worker that was lost while a case ran."""

from __future__ import annotations

from grader.support.i18n import _


def lost_message(why: str, detail: str) -> str:
    """Say what happened to the worker. why: as in `WorkerGone`. detail: seconds, an exit code, a size or an
    exception.
    """
    if why == "time" and detail:
        return _("stopped after {seconds} seconds; is there a loop that never ends?").format(seconds=detail)
    if why == "time":
        return _("stopped: time limit exceeded")
    if why == "output":
        return _with_detail(_("stopped: too much output"), detail)
    if why in ("reply", "stale"):
        return _with_detail(_("stopped: the worker process sent an invalid result"), detail)
    if why == "fault":
        return _with_detail(_("the worker failed twice while it ran your code"), detail)
    return _with_detail(_("the worker process ended twice while it ran your code"), detail)


def _with_detail(sentence: str, detail: str) -> str:
    return f"{sentence} ({detail})" if detail else sentence

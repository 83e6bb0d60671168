"""Evaluate trained weights in a second worker without student code: they are loaded into the course's own model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from grader.bundle.model import RecordedCase
from grader.bundle.safetensors import Array, encode
from grader.engine.session import Session, WorkerGone, last_line
from grader.judge.observation import BadReply, Observation, read_observation
from grader.sandbox.base import SHORT_SECONDS, Launcher, Limits, SandboxError
from grader.support.i18n import _
from grader.support.sanitize import sanitize

_NO_FILE: dict[str, object] = {"units": [], "withheld": [], "replace": {}, "skip": []}


def examined(
    case: RecordedCase, observation: Observation, launcher: Launcher, limits: Limits, given: Mapping[str, str]
) -> Observation:
    """Return the observation with the results of the case's exam; unchanged if there is nothing to evaluate.

    Raises SandboxError if the worker of the exam fails, since no student code runs in it.
    """
    exam, weights = case.exam, _weights(case, observation)
    if exam is None or weights is None:
        return observation
    session = Session(launcher, limits)
    try:
        session.ask({"op": "load", **_NO_FILE, "given": dict(given), "seconds": SHORT_SECONDS})
        run = {"op": "run", "case": {"steps": exam.steps, "dtype": exam.dtype}}
        reply = session.ask(run, encode({**exam.tensors, **weights}))
        seen = read_observation(reply.words, reply.body, exam.asked)
    except (WorkerGone, BadReply) as error:
        raise SandboxError(_("the trained model could not be evaluated: {why}").format(why=error)) from None
    finally:
        session.close()
    if "fault" in reply.words or seen.error is not None:
        why = last_line(reply.words.get("fault", ""))
        if seen.error is not None:
            why = sanitize(": ".join(filter(None, (seen.error.type, seen.error.message))), 300)
        raise SandboxError(_("the trained model could not be evaluated: {why}").format(why=why))
    return replace(observation, seen={**observation.seen, **seen.seen})


def _weights(case: RecordedCase, observation: Observation) -> dict[str, Array] | None:
    out = {}
    for name, header in case.headers.items():
        if name.startswith("state "):
            seen = observation.seen.get(name)
            if seen is None or seen.array is None or seen.shape != header.shape:
                return None
            out[name] = seen.array
    return out

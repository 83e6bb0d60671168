"""Find the first exception that a definition raises in the cases of an exercise."""

from __future__ import annotations

from dataclasses import dataclass

from grader.bundle.model import Exercise, RecordedCase
from grader.diagnosis.facts import Fact
from grader.diagnosis.sizes import of_sizes
from grader.engine.session import WorkerGone
from grader.engine.submission_run import SubmissionRun
from grader.engine.worker_slot import CannotLoad
from grader.judge.finding import Finding
from grader.judge.observation import StudentError
from grader.judge.verdict import of_error
from grader.sandbox.base import SandboxError


@dataclass(frozen=True)
class Raised:
    """An exception in a case. facts: if it is about two sizes that do not match, where these sizes come from."""

    finding: Finding
    facts: tuple[Fact, ...]


def first_exception(run: SubmissionRun, exercise: Exercise) -> Raised | None:
    """Return the first exception in a line of the student's files; None if there is none.

    Also return None if the cases are hidden, or if the code does not load.
    """
    if run.context.options.hidden:
        return None
    slot, request = run.context.slot, run.request(exercise, ())
    found: list[tuple[StudentError, RecordedCase]] = []
    try:
        for case in exercise.cases:
            error = slot.observe(request, case).error
            if error is not None and error.where is not None:
                found.append((error, case))
    except (CannotLoad, WorkerGone, SandboxError):
        slot.close()
    return Raised(of_error(found[0][0]), tuple(of_sizes(found))) if found else None

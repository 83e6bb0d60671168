"""The final say: the edited file in a fresh worker, every case judged by the parent, as for any submission."""

from __future__ import annotations

from dataclasses import replace

from grader.bundle.model import Exercise
from grader.engine.context import Context
from grader.engine.student_parts import Part
from grader.engine.submission_run import SubmissionRun
from grader.intake.names import read_names
from grader.intake.read import Submission, Unit
from grader.lines.search import Candidate


def certified(
    context: Context,
    submission: Submission,
    parts: tuple[Part, ...],
    exercise: Exercise,
    blocks: tuple[str, ...],
    candidate: Candidate,
) -> bool:
    """Whether the file with the edit passes the exercise. blocks: definitions that the reference replaces."""
    changed = edited(submission, candidate)
    run = SubmissionRun(context, changed, read_names(changed), parts)
    return run.once(exercise, blocks).outcome == "passed"


def edited(submission: Submission, candidate: Candidate) -> Submission:
    """The submission with an edit."""
    place = candidate.place
    source = place.text.changed(candidate.edit.pieces)
    units = tuple(Unit(u.name, source) if u.name == place.unit else u for u in submission.units)
    return replace(submission, units=units)

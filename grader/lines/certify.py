"""Certify an edit: run the edited file in a fresh worker, and judge every case as for any submission."""

from __future__ import annotations

from dataclasses import replace

from grader.bundle.model import Exercise
from grader.engine.grade_once import grade_once
from grader.engine.submission_run import Context, SubmissionRun
from grader.intake.names import read_names
from grader.intake.read import Submission, Unit
from grader.lines.search import Candidate
from grader.report.model import ExerciseResult


def passes_with(
    context: Context, run: SubmissionRun, exercise: Exercise, result: ExerciseResult, candidate: Candidate
) -> bool:
    """Whether the file with the edit passes the exercise, and gets no new kind of advice.

    run: the file as it was submitted. result: its result. The building blocks that replaced parts of the submitted
    file replace them again.
    """
    changed = edited(run.submission, candidate)
    again = grade_once(
        SubmissionRun(context, changed, read_names(changed), run.parts), exercise, result.replaced
    )
    before = {advice.policy for advice in result.advice}
    return again.outcome == "passed" and {advice.policy for advice in again.advice} <= before


def edited(submission: Submission, candidate: Candidate) -> Submission:
    """Return the submission with an edit."""
    place = candidate.place
    source = place.text.changed(candidate.edit.pieces)
    units = tuple(Unit(u.name, source) if u.name == place.unit else u for u in submission.units)
    return replace(submission, units=units)

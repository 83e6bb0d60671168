"""Lines to look at, for a class: searched on public cases alone, so that they show nothing of hidden ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grader.engine.engine import Engine
from grader.intake.read import Submission
from grader.lines.find import Source, add_lines
from grader.report.model import ExerciseResult


def with_public_lines(
    engine: Engine, submission: Submission, results: Sequence[ExerciseResult]
) -> tuple[ExerciseResult, ...]:
    """Return the results with lines for exercises that also fail on public cases.

    The search takes at most 2 s per file. engine: grades public cases.
    """
    failed = [result.name for result in results if result.outcome == "failed"]
    if not failed:
        return tuple(results)
    report = engine.grade(submission, failed)
    searched = add_lines(engine, report, dict.fromkeys(failed, Source(submission)))
    lines = {result.name: result.diagnosis.lines for result in searched.exercises}
    return tuple(
        replace(result, diagnosis=replace(result.diagnosis, lines=lines.get(result.name, ())))
        for result in results
    )

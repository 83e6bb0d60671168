"""Choose which of several submissions of an exercise counts: the newest, or the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grader.classroom.class_run import GradedSubmission
from grader.report.model import ExerciseResult
from grader.support.i18n import _

IDLE = ("not_started", "blocked")  # outcomes that rank below all others


def one_of_each(entries: Sequence[GradedSubmission], keep: str) -> list[GradedSubmission]:
    """Return the submissions with one result per student and exercise.

    keep: "newest" or "best". An answer that was not started or is blocked counts only if there is no other. Of two
    files with the same time, the better one counts as the newer. If several submissions have an exercise, the one
    that counts gets a remark that names the others. A submission is dropped if it has results and none counts.
    """
    found: dict[tuple[str, str], list[tuple[GradedSubmission, ExerciseResult]]] = {}
    for entry in entries:
        for result in entry.report.exercises:
            found.setdefault((entry.student, result.name), []).append((entry, result))
    chosen = {
        key: max(pairs, key=lambda pair: _rank(pair[0], pair[1], keep))[0] for key, pairs in found.items()
    }
    out = []
    for entry in entries:
        kept = [r for r in entry.report.exercises if chosen[entry.student, r.name] is entry]
        several = [r.name for r in kept if len(found[entry.student, r.name]) > 1]
        others = {
            e.submission for name in several for e, _result in found[entry.student, name] if e is not entry
        }
        remarks = entry.report.remarks
        if others:
            says = _("of several submissions of {exercises} the newest counts; not counted: {others}")
            if keep == "best":
                says = _("of several submissions of {exercises} the best counts; not counted: {others}")
            remarks += (says.format(exercises=", ".join(several), others=", ".join(sorted(others))),)
        if kept or not entry.report.exercises:
            out.append(replace(entry, report=replace(entry.report, exercises=tuple(kept), remarks=remarks)))
    return out


def _rank(entry: GradedSubmission, result: ExerciseResult, keep: str) -> tuple[object, ...]:
    """Rank a result. One without a score counts as full points: with "best", only an answer with full points beats it."""
    score = result.points if result.score is None else result.score
    better = (score, result.score is not None)
    begun = result.outcome not in IDLE
    return (begun, *better, entry.modified) if keep == "best" else (begun, entry.modified, *better)

"""Grade every definition of an exercise in a file that was not written for the course: the best one counts.

A notebook may have a right answer and, below it, a variant under the same name. Python keeps only the last one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grader.engine.engine import Engine
from grader.intake.names import Definition, read_names
from grader.intake.read import Submission
from grader.intake.syntax import parse
from grader.report.model import Report
from grader.report.shared_sentences import points
from grader.student.not_graded import place_of
from grader.support.code import definition_spans
from grader.support.i18n import _

MOST = 3  # earlier definitions of one exercise that are graded


def with_best(
    engine: Engine, submission: Submission, wanted: Sequence[str] | None
) -> tuple[Submission, Report]:
    """Grade a submission with the best definition of each exercise. Return it without the later ones, and the report.

    wanted: as in `Engine.grade`. The result of an exercise has remarks on its other definitions.
    """
    report = engine.grade(submission, wanted)
    try:
        names, found = read_names(submission), engine.known(submission)
    except Exception:
        return submission, report  # the exercises of such a file have failed already
    best, remarks = submission, dict[str, tuple[str, ...]]()
    for result in report.exercises:
        last = names.definitions.get(found.get(result.name, ""))
        earlier = [d for d in names.replaced if last and d.name == last.name and d.tree != last.tree][-MOST:]
        if last is None or not earlier:
            continue
        tried = [(last, best, result)]
        for definition in reversed(earlier):
            cut = _without_later(best, definition)
            tried.append((definition, cut, engine.grade(cut, [result.name]).exercises[0]))
        # Of equally good ones, `max` returns the first one, which is the last definition.
        chosen, best, _result = max(tried, key=lambda one: one[2].score or 0)
        others = [(place_of(d, names), other) for d, _cut, other in tried if d is not chosen]
        shown = (f"{place}: {points(other.score, other.points)}" for place, other in others)
        place, name = place_of(chosen, names), chosen.name
        says = _(
            "of several definitions of `{name}`, the one in {place} was graded; points of the others: {others}"
        )
        remarks[result.name] = (says.format(name=name, place=place, others="; ".join(shown)),)
    if best is not submission:
        report = engine.grade(best, wanted)
    exercises = [replace(e, remarks=(*e.remarks, *remarks.get(e.name, ()))) for e in report.exercises]
    return best, replace(report, exercises=tuple(exercises))


def _without_later(submission: Submission, kept: Definition) -> Submission:
    """Return a submission without the top-level definitions of a name that are below `kept`; lines keep their numbers."""
    units, is_below = [], False
    for unit in submission.units:
        source = unit.source
        for start, stop in reversed(definition_spans(source, parse(source), kept.name)):
            line = source.count("\n", 0, start) + 1
            if is_below or (unit.name == kept.unit and line > kept.end):
                source = source[:start] + "\n" * source.count("\n", start, stop) + source[stop:]
        is_below = is_below or unit.name == kept.unit
        units.append(replace(unit, source=source))
    return replace(submission, units=tuple(units))

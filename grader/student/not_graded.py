"""The sentences of `grader check --file` about code that was not graded, and where it would be."""

from __future__ import annotations

from collections.abc import Sequence

from grader.engine.engine import Engine, as_sentences
from grader.intake.elsewhere import elsewhere
from grader.intake.names import Definition, Names, read_names
from grader.intake.read import Submission
from grader.intake.recognise import NotGraded, not_graded
from grader.report.finding import Fact
from grader.report.model import ExerciseResult
from grader.support.i18n import _, ngettext
from grader.support.sanitize import sanitize

MOST = 6  # this many definitions are listed


def of_others(engine: Engine, submission: Submission, results: Sequence[ExerciseResult] = ()) -> list[str]:
    """Return what is to change to have more definitions graded, then one sentence on all code that was not graded.

    results: the outcomes of the graded exercises; one with another interface counts as not graded.
    """
    near, rest = _near_and_rest(engine, submission, results)
    listed = [*near, *rest]
    shown, more = ", ".join(listed[:MOST]), len(listed) - MOST
    if more > 0:
        shown = _("{shown}, and {n} more").format(shown=shown, n=more)
    says = _("not graded: {shown}").format(shown=shown)
    return [*_elsewhere(engine, submission), *([sanitize(says, 600)] if listed else [])]


def nothing_found(engine: Engine, submission: Submission, file: str) -> str:
    """Return the message on a file that defines no exercise: how its code would be graded, else the known names."""
    for fault in read_names(submission).faults:
        says = _("no exercise of this course found in {file}; it has a syntax error: {unit}, {why}")
        return says.format(file=file, unit=fault.unit, why=fault.why)
    near, _rest = _near_and_rest(engine, submission, ())
    says = _("no exercise of this course found in {file}; the exercises are {names}")
    if near or _elsewhere(engine, submission):
        says = _("no exercise of this course found in {file}")
    elif not any(unit.source.strip() for unit in submission.units):
        says = _("{file} has no code; of notes, code is read from blocks between ``` lines")
    return "\n".join(
        (says.format(file=file, names=", ".join(engine.exercises)), *of_others(engine, submission))
    )


def _elsewhere(engine: Engine, submission: Submission) -> tuple[str, ...]:
    found = engine.known(submission)
    missing = [name for name in engine.exercises if name not in found]
    return as_sentences(
        Fact(f"elsewhere/{one.place}", {**vars(one), "asked": _asked(engine, one.exercise)})
        for one in elsewhere(submission, read_names(submission), missing)
    )


def _asked(engine: Engine, exercise: str) -> str:
    parameters = engine.contracts[exercise].parameters
    return parameters.text if parameters else ""


def _near_and_rest(
    engine: Engine, submission: Submission, results: Sequence[ExerciseResult]
) -> tuple[list[str], list[str]]:
    """Return the definitions that were not graded: those of which it is known how they would be, and the others."""
    names, found = read_names(submission), engine.known(submission)
    other_interface = {result.name for result in results if result.outcome == "other_interface"}
    graded = [name for name in found if name not in other_interface]
    others = not_graded(found, graded, engine.contracts, names)
    near = [_near(other, engine, names) for other in others if other.meant]
    # The report has the result of a definition that was found.
    rest = [
        other.definition
        for other in others
        if not other.meant and other.definition.name not in found.values()
    ]
    return near, [f"`{one.name}` ({place_of(one, names)})" for one in rest]


def _near(other: NotGraded, engine: Engine, names: Names) -> str:
    exercise = other.meant[0]
    if other.taken:
        says = _("`{name}` ({place}; `{taken}` was used for the exercise {exercise})")
    elif other.taken == "":
        says = _("`{name}` ({place}; the exercise of this name is `{exercise}({asked})`)")
    else:
        says = ngettext(
            "`{name}` ({place}; rename it if it is meant as {meant})",
            "`{name}` ({place}; rename it if it is meant as one of {meant})",
            len(other.meant),
        )
    return says.format(
        name=other.definition.name,
        place=place_of(other.definition, names),
        taken=other.taken,
        exercise=exercise,
        asked=_asked(engine, exercise),
        meant=", ".join(other.meant),
    )


def place_of(definition: Definition, names: Names) -> str:
    """Return the line of a definition, and its cell if the file has several."""
    line = _("line {line}").format(line=definition.line)
    cell = definition.unit.rpartition(" cell ")[2] if len(names.units) > 1 else ""
    return _("cell {cell}, line {line}").format(cell=cell, line=definition.line) if cell else line

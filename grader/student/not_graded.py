"""The sentences of `grader check --file` about code that was not graded, and where it would be."""

from __future__ import annotations

from collections.abc import Sequence

from grader.engine.engine import Engine, as_sentences
from grader.intake.elsewhere import elsewhere
from grader.intake.names import Definition, Names, read_names
from grader.intake.read import Submission
from grader.intake.recognise import NotGraded, not_graded
from grader.report.finding import PUBLIC, Fact
from grader.report.model import ExerciseResult
from grader.support.i18n import _
from grader.support.sanitize import sanitize

MOST = 6  # this many definitions are listed
MOST_WAYS = 4  # for this many, a sentence says how they would be graded


def of_others(engine: Engine, submission: Submission, results: Sequence[ExerciseResult] = ()) -> list[str]:
    """Return what is to change to have more definitions graded, then one sentence on all other code.

    results: the outcomes of the graded exercises; one with another interface counts as not graded.
    """
    names, found = read_names(submission), engine.known(submission)
    other_interface = {result.name for result in results if result.outcome == "other_interface"}
    graded = [name for name in found if name not in other_interface]
    ways, near, rest = list[str](), list[str](), list[str]()
    for other in not_graded(found, graded, engine.contracts, names):
        one, place = other.definition, place_of(other.definition, names)
        way = (
            engine.way_to_be_graded(other.meant, one.name, names)
            if other.meant and other.taken is None
            else None
        )
        if way and len(ways) < MOST_WAYS:
            says = _("`{name}` ({place}), if it is meant as {exercise}: {how}")
            how = PUBLIC.sentence(way)
            ways.append(says.format(name=one.name, place=place, exercise=other.meant, how=how))
        elif other.meant and not way:
            near.append(_near(other, place, engine))
        # The report has the result of a definition that was found.
        elif one.name not in found.values():
            rest.append(f"`{one.name}` ({place})")
    listed = [*near, *rest]
    shown, more = ", ".join(listed[:MOST]), len(listed) - MOST
    if more > 0:
        shown = _("{shown}, and {n} more").format(shown=shown, n=more)
    says = _("not graded: {shown}").format(shown=shown)
    others = [*(sanitize(way, 900) for way in ways), *([sanitize(says, 600)] if listed else [])]
    return [*_elsewhere(engine, submission), *others]


def nothing_found(engine: Engine, submission: Submission, file: str) -> str:
    """Return the message on a file that defines no exercise: how its code would be graded, else the known names."""
    others = of_others(engine, submission)
    says = _("no exercise of this course found in {file}; the exercises are {names}")
    if others:
        says = _("no exercise of this course found in {file}")
    elif not any(unit.source.strip() for unit in submission.units):
        says = _("{file} has no code; of notes, code is read from blocks between ``` lines")
    for fault in read_names(submission).faults[:1]:
        says = _("no exercise of this course found in {file}; it has a syntax error: {unit}, {why}")
        says = says.format(file=file, unit=fault.unit, why=fault.why)
    return "\n".join((says.format(file=file, names=", ".join(engine.exercises)), *others))


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


def _near(other: NotGraded, place: str, engine: Engine) -> str:
    says = _("`{name}` ({place}; rename it if it is meant as {meant})")
    if other.taken:
        says = _("`{name}` ({place}; `{taken}` was used for the exercise {meant})")
    elif other.taken == "":
        says = _("`{name}` ({place}; the exercise of this name is `{meant}({asked})`)")
    return says.format(
        name=other.definition.name,
        place=place,
        taken=other.taken,
        meant=other.meant,
        asked=_asked(engine, other.meant),
    )


def place_of(definition: Definition, names: Names) -> str:
    """Return the line of a definition, and its cell if the file has several."""
    line = _("line {line}").format(line=definition.line)
    cell = definition.unit.rpartition(" cell ")[2] if len(names.units) > 1 else ""
    return _("cell {cell}, line {line}").format(cell=cell, line=definition.line) if cell else line

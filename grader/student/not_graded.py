"""The sentences of `grader check --file` about code that was not graded, and about repeated definitions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from grader.engine.engine import Engine
from grader.intake.names import Definition, Names, read_names
from grader.intake.read import Submission
from grader.intake.recognise import NotGraded, not_graded
from grader.report.model import ExerciseResult
from grader.support.i18n import _, ngettext
from grader.support.sanitize import sanitize

MOST = 6  # this many definitions get a sentence of their own; this many others are listed


def of_others(engine: Engine, submission: Submission, results: Sequence[ExerciseResult] = ()) -> list[str]:
    """Return sentences on attention and Transformer code that was not graded: why, and how it would be graded.

    results: the outcomes of the graded exercises; one with another interface counts as not graded.
    """
    near, rest = _near_and_rest(engine, submission, results)
    names, found = read_names(submission), engine.known(submission)
    again = dict.fromkeys(d.name for d in names.replaced if d.name in found.values())
    says = _("defined more than once, and the last definition was graded: {shown}")
    shown = _named((names.definitions[name] for name in again), names)
    return [*near, *rest, *([sanitize(says.format(shown=shown), 600)] if again else [])]


def nothing_found(engine: Engine, submission: Submission, file: str) -> str:
    """Return the message on a file that defines no exercise: what its code may be meant as, else the known names."""
    for fault in read_names(submission).faults:
        says = _("no exercise of this course found in {file}; it has a syntax error: {unit}, {why}")
        return says.format(file=file, unit=fault.unit, why=fault.why)
    near, rest = _near_and_rest(engine, submission, ())
    says = _("no exercise of this course found in {file}; the exercises are {names}")
    if near:
        says = _("no exercise of this course found in {file}")
    return "\n".join((says.format(file=file, names=", ".join(engine.exercises)), *near, *rest))


def _near_and_rest(
    engine: Engine, submission: Submission, results: Sequence[ExerciseResult]
) -> tuple[list[str], list[str]]:
    names, found = read_names(submission), engine.known(submission)
    other_interface = {result.name for result in results if result.outcome == "other_interface"}
    graded = [name for name in found if name not in other_interface]
    says: list[str] = []
    rest: list[Definition] = []
    for other in not_graded(found, graded, engine.contracts, names):
        sentence = _of_one(other, engine, names) if len(says) < MOST else ""
        if sentence:
            says.append(sentence)
        elif other.definition.name not in found.values():  # otherwise the report has its result
            rest.append(other.definition)
    shown, more = _named(rest[:MOST], names), len(rest) - MOST
    if more > 0:
        shown = _("{shown}, and {more} more").format(shown=shown, more=more)
    listed = _("not recognised as exercises, so not graded: {shown}").format(shown=shown)
    return says, [sanitize(listed, 600)] if rest else []


def _of_one(other: NotGraded, engine: Engine, names: Names) -> str:
    name = other.definition.name
    if not other.meant:
        return ""
    exercise = other.meant[0]
    if other.taken:
        says = _(
            "{place}: `{other}` was not graded; `{taken}` of the same file was used for the exercise {exercise}"
        )
    elif other.taken == "":
        says = _("{place}: `{other}` was not graded; the exercise of this name is `{exercise}({asked})`")
    else:
        says = ngettext(
            "{place}: `{other}` was not graded, because no exercise has this name; if it is meant as {exercise},"
            " rename it",
            "{place}: `{other}` was not graded, because no exercise has this name; if it is meant as one of these,"
            " rename it: {meant}",
            len(other.meant),
        )
    parameters = engine.contracts[exercise].parameters
    says = says.format(
        place=_place(other.definition, names),
        other=name,
        taken=other.taken,
        exercise=exercise,
        asked=", ".join((*parameters.positional, *parameters.keyword_only)) if parameters else "",
        meant=", ".join(other.meant),
    )
    return sanitize(says, 600)


def _named(definitions: Iterable[Definition], names: Names) -> str:
    return ", ".join(f"`{one.name}` ({_place(one, names)})" for one in definitions)


def _place(definition: Definition, names: Names) -> str:
    units = {other.unit for other in names.definitions.values()}
    line = _("line {line}").format(line=definition.line)
    cell = definition.unit.rpartition(" cell ")[2] if len(units) > 1 else ""
    return _("cell {cell}, line {line}").format(cell=cell, line=definition.line) if cell else line


def of_other_frameworks(submission: Submission) -> list[str]:
    """Return a sentence on the definitions that were skipped because they are for other frameworks, if any."""
    lines = ", ".join(map(str, submission.skipped[:20]))
    says = _("the definitions in lines {lines} are for another framework and were skipped")
    return [says.format(lines=lines)] if lines else []

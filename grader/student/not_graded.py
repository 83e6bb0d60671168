"""The sentences of `grader check --file` about code that was not graded, and about repeated definitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from textwrap import shorten

from grader.engine.engine import Engine
from grader.engine.first_exception import Raised
from grader.intake.names import Definition, Names, read_names
from grader.intake.nearest_code import NotGraded, not_graded
from grader.intake.parameters import signature
from grader.intake.read import Submission
from grader.report.model import ExerciseResult
from grader.support.i18n import _
from grader.support.sanitize import sanitize

SHOWN = 60  # characters of the parameters of one definition
MOST = 6  # this many definitions get a sentence of their own; this many others are listed


def of_others(engine: Engine, submission: Submission, results: Sequence[ExerciseResult] = ()) -> list[str]:
    """Return sentences on attention and Transformer code that was not graded: why, and which exercise is nearest.

    results: the outcomes of the graded exercises; one with another interface counts as not graded.
    """
    names, found = read_names(submission), engine.known(submission)
    graded = [name for name in found if name not in _with_other_interface(results)]
    all_others = not_graded(found, graded, engine.contracts, names)
    near = [other for other in all_others if other.exercise][:MOST]
    rest = [other.definition for other in all_others if other not in near]
    says = [_of_one(other, engine, submission, names) for other in near]
    if rest:
        says.append(_listed(rest, names))
    again = [d for d in names.replaced if d.name in found.values()]
    if again:
        says.append(_defined_again(again, names))
    return [sanitize(text, 600) for text in says]


def _with_other_interface(results: Sequence[ExerciseResult]) -> list[str]:
    return [result.name for result in results if result.outcome == "other_interface"]


def _of_one(other: NotGraded, engine: Engine, submission: Submission, names: Names) -> str:
    known = {"place": _place(other.definition, names), "other": other.definition.name}
    known["exercise"] = other.exercise
    if other.same:
        raised = engine.raised(submission, other.exercise, other.definition.name)
        if raised is not None:
            return _that_raises(raised, known)
        says = _(
            "{place}: `{other}` was not graded as {exercise}, although it has the same parameters; rename it to"
            " `{exercise}` to grade it"
        )
        return says.format(**known)
    if other.taken:
        says = _(
            "{place}: `{other}` was not graded; `{taken}` of the same file was used for the exercise {exercise}"
        )
        return says.format(**known, taken=other.taken)
    says = _(
        "{place}: `{other}({found})` was not graded; the nearest name of an exercise is `{exercise}({asked})`"
    )
    found = _text(submission, names, other.definition)
    stub = engine.context.stubs[engine.exercises[other.exercise].assignment]
    asked = _text(stub.submission, stub.names, stub.names.definitions[other.exercise])
    return says.format(**known, found=found, asked=asked)


def _that_raises(raised: Raised, known: Mapping[str, str]) -> str:
    """Return the sentence on a definition that raises when it is called like the exercise with the same parameters."""
    says = _(
        "{place}: `{other}` was not graded; called like {exercise}, which has the same parameters, it {raised} ({where})"
    ).format(**known, raised=raised.finding.message, where=raised.finding.where)
    return "; ".join((says, *(fact.says for fact in raised.facts)))


def _text(submission: Submission, names: Names, definition: Definition) -> str:
    """Return the parameters of a function or a constructor as in the source, cut to SHOWN characters."""
    method = "__init__" if definition.kind == "class" else ""
    found = signature(submission, names, definition.name, method)
    return "…" if found is None else shorten(found.text, width=SHOWN, placeholder=" …")


def _listed(others: Sequence[Definition], names: Names) -> str:
    shown = ", ".join(f"`{other.name}` ({_place(other, names)})" for other in others[:MOST])
    more = len(others) - MOST
    if more > 0:
        shown = _("{shown}, and {more} more").format(shown=shown, more=more)
    return _("not recognised as exercises, so not graded: {shown}").format(shown=shown)


def _defined_again(replaced: Sequence[Definition], names: Names) -> str:
    counts = Counter(definition.name for definition in replaced)
    shown = ", ".join(f"`{name}` ({_place(names.definitions[name], names)})" for name in counts)
    return _("defined more than once, and the last definition was graded: {shown}").format(shown=shown)


def _place(definition: Definition, names: Names) -> str:
    units = {other.unit for other in names.definitions.values()}
    line = _("line {line}").format(line=definition.line)
    cell = definition.unit.rpartition(" cell ")[2] if len(units) > 1 else ""
    return _("cell {cell}, line {line}").format(cell=cell, line=definition.line) if cell else line


def of_other_frameworks(submission: Submission) -> list[str]:
    """Return a sentence on the definitions that were skipped because they are for other frameworks, if any."""
    if not submission.skipped:
        return []
    lines = ", ".join(str(line) for line in submission.skipped[:20])
    return [
        _("the definitions in lines {lines} are for another framework and were skipped").format(lines=lines)
    ]

"""The building blocks of an exercise that the student wrote, in this file, an earlier one, or one beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from grader.bundle.model import Exercise
from grader.engine.context import Context
from grader.engine.interface import Source, keywords_in_place
from grader.engine.student_parts import Part
from grader.intake.names import Names
from grader.intake.read import Submission
from grader.support.i18n import _
from grader.support.sanitize import sanitize


class Run(Protocol):
    """One file being graded; see `SubmissionRun`. The dictionaries hold runs of other files."""

    context: Context
    submission: Submission
    names: Names
    parts: tuple[Part, ...]
    done: dict[str, Any]
    earlier: dict[str, Any]
    neighbours: dict[str, Any]
    unsteady: set[str]

    @property
    def aliases(self) -> Mapping[str, str]: ...

    def of(self, submission: Submission, neighbours: dict[str, Any] | None = None) -> Any: ...

    def grade(self, exercise: Exercise) -> Any: ...


Block = tuple[str, Run]  # the name of a block, and the run of the file that defines it


def student_blocks(run: Run, exercise: Exercise) -> list[Block]:
    """The blocks of an exercise that the student wrote, and the run of the file that defines each."""
    known = [name for name in exercise.given if name in run.context.exercises]
    here = {name: run for name in known if name in run.aliases}
    if exercise.is_made_of_parts:
        for part in run.parts:
            earlier = run.earlier.setdefault(part.submission.content, run.of(part.submission))
            here = {name: earlier for name in known if name in part.names} | here
    else:
        for beside in _beside(run):
            here = {name: beside for name in known if name in beside.aliases} | here
    return [(name, here[name]) for name in known if name in here]


def _beside(run: Run) -> list[Run]:
    """Return the files beside the submission as submissions. Their results are shared."""
    for one in run.submission.neighbours:
        if one.name not in run.neighbours:
            others = tuple(other for other in run.submission.neighbours if other is not one)
            alone = Submission(run.submission.path, (one,), neighbours=others)
            run.neighbours[one.name] = run.of(alone, run.neighbours)
    return list(run.neighbours.values())


def bound_names(blocks: Sequence[Block], names: Sequence[str]) -> dict[str, str]:
    """Return name in the student's files → building block, for the blocks `names`."""
    found = {run.aliases[name]: name for name, run in blocks if name in names and name in run.aliases}
    return found | {name: name for name in names}


def keywords_of(blocks: Sequence[Block], names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return, for the blocks `names`: name in the student's files → the student's keyword → the block's keyword."""
    out = {}
    for name, run in blocks:
        if name in names and name in run.aliases:
            exercise = run.context.exercises[name]
            stub, file = run.context.stubs[exercise.assignment], Source(run.submission, run.names)
            out[run.aliases[name]] = keywords_in_place(exercise.name, run.aliases[name], file, stub)
    return out


def remarks_on_faulty(run: Run, faulty: Sequence[Block]) -> list[str]:
    """Remarks on blocks of the student that reference blocks replace."""
    beside = [block for block in faulty if block[1] in run.neighbours.values() and block[1] is not run]
    own = [block for block in faulty if block not in beside]
    out = []
    if own:
        outcomes = {of.done[name].outcome for name, of in own}
        if outcomes == {"failed"}:
            says = _("your {blocks} has an error (see there); graded with the reference {blocks} instead")
        elif outcomes == {"not_started"}:
            says = _("your {blocks} is not written yet; graded with the reference {blocks} instead")
        else:
            says = _(
                "your {blocks} could not be used (see there); graded with the reference {blocks} instead"
            )
        out.append(says.format(blocks=", ".join(name for name, _of in own)))
    for name, of in beside:
        says = (
            _("{block} in {file} has an error; graded with the reference {block} instead")
            if of.done[name].outcome == "failed"
            else _("{block} in {file} could not be used; graded with the reference {block} instead")
        )
        out.append(says.format(block=name, file=sanitize(of.submission.units[0].name, 100)))
    return out

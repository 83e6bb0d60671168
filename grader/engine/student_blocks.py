"""The building blocks of an exercise that the student wrote, in this file, an earlier one, or one beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from grader.bundle.model import Exercise
from grader.intake.read import Submission
from grader.support.i18n import _
from grader.support.sanitize import sanitize

if TYPE_CHECKING:
    from grader.engine.submission_run import SubmissionRun

Block = tuple[str, "SubmissionRun"]  # the name of a block, and the run of the file that defines it


def student_blocks(run: SubmissionRun, exercise: Exercise) -> list[Block]:
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


def _beside(run: SubmissionRun) -> list[SubmissionRun]:
    """The files beside the submission, each as a submission of its own. They share their results."""
    for one in run.submission.neighbours:
        if one.name not in run.neighbours:
            others = tuple(other for other in run.submission.neighbours if other is not one)
            alone = Submission(run.submission.path, (one,), neighbours=others)
            run.neighbours[one.name] = run.of(alone, run.neighbours)
    return list(run.neighbours.values())


def bound_names(blocks: Sequence[Block], names: Sequence[str]) -> dict[str, str]:
    """What the student's files call the blocks `names`, and these blocks."""
    found = {run.aliases[name]: name for name, run in blocks if name in names and name in run.aliases}
    return found | {name: name for name in names}


def remarks_on_faulty(run: SubmissionRun, faulty: Sequence[Block]) -> list[str]:
    """Remarks on blocks of the student that reference blocks replace."""
    beside = [block for block in faulty if block[1] in run.neighbours.values() and block[1] is not run]
    own = [block for block in faulty if block not in beside]
    out = []
    if own:
        says = (
            _("your {blocks} has an error (see there); graded with the reference {blocks} instead")
            if all(of.done[name].outcome == "failed" for name, of in own)
            else _("your {blocks} could not be used (see there); graded with the reference {blocks} instead")
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

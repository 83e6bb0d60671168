"""Give a group of equal wrong answers a name if no right answer is in the group; store comments on groups.

Names and comments are in the course's own bank: the file `groups.json`, see groups.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from grader.authoring.bank import apply
from grader.authoring.content import read
from grader.bundle.files import digest_of_cases
from grader.bundle.model import Bundle, bundle_of
from grader.classroom.bounded_grading import BoundedGrading
from grader.classroom.grade_folder import Classroom
from grader.classroom.grading_process import RunConfig, Task
from grader.classroom.groups import GROUP, ID, Groups, Named, read_groups, write_groups
from grader.intake.course import Course, one_exercise
from grader.support.errors import GraderError, UsageError
from grader.support.i18n import _

# As in `class_run`: done, graded now. No result comes from a store, so both are the number of answers graded so far.
Progress = Callable[[int, int], None]


class Claimed(GraderError):
    """A right answer is in the group, or a right answer did not pass, so nothing is proved."""


def adopt(room: Classroom, group: str, named: Named, progress: Progress) -> tuple[Path, int]:
    """Prove that no right answer is in the group, then write the group's name into the bank.

    Return the bank's path and how many right answers were graded. Raises UsageError for a malformed group or id, or
    an id that is in use, and Claimed if the proof fails.
    """
    exercise, fingerprint = parts_of(room.bundles, group)
    bank = read_groups(room.home)
    taken = _known_ids(room.bundles) | {one.id for key, one in bank.named.items() if key != group}
    if not ID.fullmatch(named.id) or named.id in taken:
        raise UsageError(
            _(
                "--id takes lower-case words joined by dashes that name no other mistake, such as scaled-twice; not {id}"
            ).format(id=named.id)
            if named.id not in taken
            else _("a mistake is called {id} already; choose another --id").format(id=named.id)
        )
    proved = _prove(room, exercise, fingerprint, progress)
    named = replace(named, cases=digest_of_cases(bundle_of(room.bundles, exercise).exercise(exercise)))
    return write_groups(room.home, Groups({**bank.named, group: named}, bank.comments)), proved


def forget(room: Classroom, group: str) -> Path:
    """Remove a group's name from the bank. Return the bank's path. Raises UsageError if the group has no name."""
    bank = read_groups(room.home)
    if group not in bank.named:
        raise UsageError(_("{group} has no name in {folder}").format(group=group, folder=room.home))
    named = {key: one for key, one in bank.named.items() if key != group}
    return write_groups(room.home, Groups(named, bank.comments))


def comment(course: Course, group: str, text: str) -> Path:
    """Store the comment that the students of a group read; "" removes it. Return the bank's path.

    group: ids of mistakes joined by "+", or "exercise:fingerprint". Raises UsageError for an unknown id and for a
    malformed group.
    """
    home = course.require_solutions().parent
    bank = read_groups(home)
    known = _known_ids(course.bundles) | {one.id for one in bank.named.values()}
    if not set(group.split("+")) <= known:
        parts_of(course.bundles, group)  # raises UsageError unless it is exercise:fingerprint
    comments = {key: old for key, old in bank.comments.items() if key != group}
    if text:
        comments[group] = text
    return write_groups(home, replace(bank, comments=comments))


def parts_of(bundles: Sequence[Bundle], group: str) -> tuple[str, str]:
    """Return exercise and fingerprint (a hash of the results) of a group without a name.

    Raises UsageError for any other text.
    """
    found = GROUP.fullmatch(group)
    if not found:
        says = _(
            "{group} is no group; copy one from the class report, such as masked_softmax:0123456789abcdef"
        )
        raise UsageError(says.format(group=group))
    return one_exercise(found[1], bundles).name, found[2]


def _known_ids(bundles: Sequence[Bundle]) -> set[str]:
    """Return the ids of the known mistakes of the course."""
    return {mistake.id for bundle in bundles for e in bundle.exercises for mistake in e.mistakes}


def _prove(room: Classroom, exercise: str, fingerprint: str, progress: Progress) -> int:
    """Grade all right answers with the hidden cases; return their number.

    Raises Claimed if one does not pass or is in the group.
    """
    bundle = bundle_of(room.bundles, exercise)
    answers = right_answers_of(room, exercise)
    config = RunConfig(room.cases, store=None, key=room.key, only=(exercise,), rules=room.rules)
    # Called without arguments, `partial(bytes, data)` returns the data; unlike a lambda, it can be sent to a process.
    tasks = [
        Task(number, Path(f"{bundle.module}.py"), partial(bytes, source.encode()), (exercise,))
        for number, (_name, source) in enumerate(answers)
    ]
    with BoundedGrading(room.bundles, config, min(2, len(tasks))) as grading:
        for done, (task, result) in enumerate(grading.run(tasks), 1):
            progress(done, done)
            name = answers[task.number][0]
            if any(one.fingerprint == fingerprint for one in result.results):
                says = _("{name} is a right answer and gives the values of this group; nothing was adopted")
                raise Claimed(says.format(name=name))
            if not result.results or result.results[0].outcome != "passed":
                says = _(
                    "{name} is a right answer and did not pass, so nothing is proved; nothing was adopted"
                )
                raise Claimed(says.format(name=name))
    return len(answers)


def right_answers_of(room: Classroom, exercise: str) -> Sequence[tuple[str, str]]:
    """Return (name, source) of the reference and of every variant that must pass."""
    bundle = bundle_of(room.bundles, exercise)
    assignment = read(room.solutions / bundle.assignment)
    variants = [v for v in assignment.variants(exercise) if v.kind in ("same", "also")]
    return [
        (_("the reference"), assignment.source),
        *((v.id, apply(v, assignment.source)) for v in variants),
    ]

"""Give a group of equal wrong answers a name, if every right answer passes: then none is in the group."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from grader.authoring.bank import apply
from grader.authoring.content import read
from grader.bundle.files import digest_of_cases
from grader.bundle.model import bundle_of
from grader.classroom.grade_folder import Classroom
from grader.classroom.groups import ID, Groups, Named, exercise_of, known_ids, read_groups, write_groups
from grader.engine.engine import Engine
from grader.engine.grading import HIDDEN, GradingOptions
from grader.intake.read import submission_from
from grader.sandbox.choose import choose
from grader.support.errors import GraderError, UsageError
from grader.support.i18n import _


def adopt(room: Classroom, group: str, id: str, says: str, asks: str) -> tuple[Path, int]:
    """Write the group's name into the file of groups. Return its path, and how many right answers were graded.

    Raises UsageError for a malformed group or id, or an id that is in use, and GraderError if a right answer does not
    pass, because it may be in the group.
    """
    exercise = exercise_of(group, room.bundles)
    groups = read_groups(room.home)
    if not ID.fullmatch(id):
        wrong = _(
            "--id takes lower-case words joined by dashes that name no other mistake, such as scaled-twice; not {id}"
        )
        raise UsageError(wrong.format(id=id))
    if id in known_ids(room.bundles) | {one.id for key, one in groups.named.items() if key != group}:
        raise UsageError(_("a mistake is called {id} already; choose another --id").format(id=id))
    passed = _pass_all_right_answers(room, exercise)
    cases = digest_of_cases(bundle_of(room.bundles, exercise).exercise(exercise))
    named = {**groups.named, group: Named(id, says, asks, cases)}
    return write_groups(room.home, Groups(named, groups.comments)), passed


def _pass_all_right_answers(room: Classroom, exercise: str) -> int:
    """Grade the reference and every variant that must pass, with hidden cases. Return their number."""
    bundle = bundle_of(room.bundles, exercise)
    assignment = read(room.solutions / bundle.assignment)
    variants = [v for v in assignment.variants(exercise) if v.kind in ("same", "also")]
    answers = [(_("the reference"), assignment.source)]
    answers += [(v.id, apply(v, assignment.source)) for v in variants]
    with (
        closing(choose(room.tier)) as launcher,
        closing(Engine(room.bundles, launcher, GradingOptions(terms=HIDDEN))) as engine,
    ):
        for name, source in answers:
            submission = submission_from(Path(f"{bundle.module}.py"), source.encode())
            (result,) = engine.grade(submission, [exercise]).exercises
            if result.outcome != "passed":
                says = _(
                    "{name} is a right answer and does not pass, so it may be in this group; nothing was adopted"
                )
                raise GraderError(says.format(name=name))
    return len(answers)

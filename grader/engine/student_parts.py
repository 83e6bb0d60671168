"""The parts of an exercise's model: definitions that the student wrote for earlier assignments."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from grader.bundle.model import Bundle
from grader.intake.course import Course
from grader.intake.names import Definition, read_names, untouched
from grader.intake.needs import units_to_run
from grader.intake.read import Blocked, Submission, Unit, read_submission
from grader.intake.recognise import match
from grader.report.finding import Fact


@dataclass(frozen=True)
class Part:
    """One earlier file, and the parts in it: exercise → the name it has there."""

    submission: Submission
    names: Mapping[str, str]

    def request(self, without: Collection[str]) -> dict[str, object]:
        """Return the fields of a load request that describe this file. without: parts that are left out."""
        return {
            "units": [vars(unit) for unit in units_to_run(self.submission)],
            "names": {name: bound for name, bound in self.names.items() if name not in without},
        }


def earlier_parts(
    course: Course, bundle: Bundle, wanted: Collection[str], contracts: Mapping[str, Definition]
) -> tuple[Part, ...]:
    """Return the parts in the files of the assignments before `bundle`. Stubs and unreadable files are left out.

    wanted: the exercises that may be parts.
    """
    out = []
    for earlier in course.bundles:
        if earlier.assignment >= bundle.assignment:
            break
        try:
            submission = read_submission(course.file_for(earlier))
        except Blocked:
            continue
        found = read_names(submission)
        stub = read_names(Submission(submission.path, (Unit(submission.path.name, earlier.stub),)))
        own = {exercise.name for exercise in earlier.exercises if exercise.name in wanted}
        written = {name for name in own if not untouched(name, found, stub)}
        names = {name: bound for name, bound in match(contracts, found).items() if name in written}
        if names:
            out.append(Part(submission, names))
    return tuple(out)


def content(submission: Submission, parts: Sequence[Part]) -> str:
    """Return a hash of a submission and of its parts in earlier files."""
    if not parts:
        return submission.content
    whole = hashlib.sha256(submission.content.encode())
    for part in parts:
        whole.update(f"{part.submission.content} {sorted(part.names.items())}".encode())
    return whole.hexdigest()


def parts_remark(own: Collection[str], wanted: Sequence[str]) -> Fact:
    """Return a remark on who wrote the parts of a model (wanted): the student (own) or the course."""
    mine = [name for name in wanted if name in own]
    if not mine:
        return Fact("parts/reference")
    return Fact("parts/own") if len(mine) == len(wanted) else Fact("parts/some", {"names": ", ".join(mine)})

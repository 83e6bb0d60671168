"""A file of a student as text: what it defines, and what its definitions need and accept. Nothing runs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from grader.bundle.model import Bundle, Exercise
from grader.engine.interface import Interface, interface, keywords_in_place
from grader.engine.schools import form_of
from grader.intake.course import Course
from grader.intake.names import Definition, Names, read_names, stub_names, untouched
from grader.intake.read import Blocked, Submission, read_submission
from grader.intake.recognise import match
from grader.intake.uses import needs, units_to_run


@dataclass(frozen=True)
class CourseTables:
    """The tables made from the bundles of a course.

    contracts: exercise → its definition in the original stub.
    stubs: assignment → what its original stub defines.
    """

    exercises: Mapping[str, Exercise]
    contracts: Mapping[str, Definition]
    stubs: Mapping[str, Names]

    @classmethod
    def of(cls, bundles: Sequence[Bundle]) -> CourseTables:
        """Make the tables."""
        stubs = {bundle.assignment: stub_names(bundle.stub) for bundle in bundles}
        exercises = {e.name: e for bundle in bundles for e in bundle.exercises}
        contracts = {name: stubs[e.assignment].definitions[name] for name, e in exercises.items()}
        return cls(exercises, contracts, stubs)


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


@dataclass(frozen=True, eq=False)
class StudentFile:
    """One file of a student.

    parts: the student's earlier files; the model of the capstone is made of definitions in them. earlier: the same files,
    in the same order. beside: the other files of its folder. schools: it may be in a form of
    another school, see `Terms`.
    """

    course: CourseTables
    submission: Submission
    names: Names
    parts: tuple[Part, ...] = ()
    earlier: Sequence[StudentFile] = ()
    beside: Sequence[StudentFile] = ()
    schools: bool = False
    _needed: dict[str, frozenset[str]] = field(default_factory=dict, init=False)
    _interfaces: dict[str, Interface] = field(default_factory=dict, init=False)

    @cached_property
    def aliases(self) -> dict[str, str]:
        """Exercise → the name that it has in the text."""
        return match(self.course.contracts, self.names, school_fits(self.course, self.names, self.schools))

    @cached_property
    def content(self) -> str:
        """A hash of the file and of its parts in earlier files."""
        return content(self.submission, self.parts)

    def alias(self, exercise: Exercise) -> str:
        """Return the name under which the file defines an exercise, or should define it."""
        return self.aliases.get(exercise.name, exercise.name)

    def definition(self, exercise: Exercise) -> Definition | None:
        return self.names.definitions.get(self.alias(exercise))

    def needs(self, exercise: Exercise) -> frozenset[str]:
        """Return the names of this file that an exercise needs."""
        name = self.alias(exercise)
        if name not in self._needed:
            self._needed[name] = needs(self.names, name)
        return self._needed[name]

    def is_untouched(self, exercise: Exercise) -> bool:
        """Whether the file defines the exercise as the original stub does."""
        stub = self.course.stubs.get(exercise.assignment)
        same_name = self.aliases.get(exercise.name) == exercise.name
        return stub is not None and same_name and untouched(exercise.name, self.names, stub)

    def interface(self, exercise: Exercise) -> Interface:
        """Return how the grader calls the file's definition of an exercise."""
        name = exercise.name
        if name not in self._interfaces:
            alias = self.alias(exercise)
            self._interfaces[name] = interface(exercise, alias, self.names, self._stub(exercise))
        return self._interfaces[name]

    def keywords(self, exercise: Exercise) -> dict[str, str]:
        """Return a dict: keyword of the file's function or constructor → the course's keyword at this position."""
        return keywords_in_place(exercise.name, self.alias(exercise), self.names, self._stub(exercise))

    def _stub(self, exercise: Exercise) -> Names:
        return self.course.stubs[exercise.assignment]


def school_fits(course: CourseTables, names: Names, schools: bool) -> Callable[[str, str], bool]:
    """Return a function: exercise, name of a class → whether it is graded in the form of a school."""
    return lambda exercise, name: schools and form_of(course.exercises[exercise], name, names) is not None


def student_file(
    course: CourseTables, submission: Submission, parts: Sequence[Part] = (), schools: bool = False
) -> StudentFile:
    """Read a file and those beside it: for each of these, the other ones are beside it."""
    beside: list[StudentFile] = []
    for one in submission.neighbours:
        others = tuple(other for other in submission.neighbours if other is not one)
        alone = Submission(submission.path, (one,), neighbours=others)
        beside.append(StudentFile(course, alone, read_names(alone), beside=beside, schools=schools))
    earlier = [student_file(course, part.submission) for part in parts]
    return StudentFile(course, submission, read_names(submission), tuple(parts), earlier, beside, schools)


def content(submission: Submission, parts: Sequence[Part]) -> str:
    """Return a hash of a submission and of its parts in earlier files."""
    if not parts:
        return submission.content
    whole = hashlib.sha256(submission.content.encode())
    for part in parts:
        whole.update(f"{part.submission.content} {sorted(part.names.items())}".encode())
    return whole.hexdigest()


def earlier_parts(
    course: Course, tables: CourseTables, bundle: Bundle, wanted: Collection[str]
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
        file = student_file(tables, submission)
        written = {e.name for e in earlier.exercises if e.name in wanted and not file.is_untouched(e)}
        names = {name: bound for name, bound in file.aliases.items() if name in written}
        if names:
            out.append(Part(submission, names))
    return tuple(out)

"""One grading: the options and tables of an engine, and what is known so far about the student's files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from grader.bundle.model import Exercise
from grader.engine.lease import Workers
from grader.engine.load_request import LoadRequest
from grader.engine.session import Training
from grader.engine.student_file import CourseTables, Part, StudentFile, student_file
from grader.engine.terms import PUBLIC, Terms
from grader.report.model import ExerciseResult


def _ignore(*_progress: object) -> None:
    """Discard progress."""


@dataclass(frozen=True)
class GradingOptions:
    """Options of one engine.

    device: "cpu", "sim" or "cuda".
    terms: what the grading may do and its report may show.
    quick: skip costly cases (the longest training).
    reuse_worker: all sources are trusted, so one worker may serve them all.
    torch_version: the version of torch that the report names.
    cache: the folder of cached results of exercises that take long; None grades every time.
    on_exercise: called with the name of each exercise before the exercise is graded.
    on_training: called with a title and the state of a training while it runs.
    """

    device: str = "cpu"
    terms: Terms = PUBLIC
    quick: bool = False
    reuse_worker: bool = False
    torch_version: str = ""
    cache: Path | None = None
    on_exercise: Callable[[str], None] = _ignore
    on_training: Callable[[str, Training], None] = _ignore


DEFAULTS = GradingOptions()


@dataclass(frozen=True)
class Context:
    """The tables of a course, the workers, and the options of an engine."""

    course: CourseTables
    workers: Workers
    options: GradingOptions


Block = tuple[str, StudentFile]  # the name of a block, and the student's file that defines it


@dataclass(eq=False)
class Grading:
    """One call of `Engine.grade`: what is known so far about the student's files.

    results: (file, exercise) → its result. unsteady: those that may be chance, because workers were lost.
    bound: file → exercise → the name that the file's code gave to it, if its text does not show it.
    notes: file → what a worker said about its top-level code before any case ran.
    endless: top-level statements that timed out, as (file, line); they are left out of all files.
    lost: how many workers were lost otherwise. earlier: content → the earlier file with this content.
    """

    context: Context
    results: dict[tuple[StudentFile, str], ExerciseResult] = field(default_factory=dict)
    unsteady: set[tuple[StudentFile, str]] = field(default_factory=set)
    bound: dict[StudentFile, dict[str, str]] = field(default_factory=dict)
    notes: dict[StudentFile, tuple[dict[str, Any], ...]] = field(default_factory=dict)
    endless: list[tuple[str, int]] = field(default_factory=list)
    lost: int = 0
    earlier: dict[str, StudentFile] = field(default_factory=dict)

    def aliases(self, file: StudentFile) -> Mapping[str, str]:
        """Return exercise → the name that it has in a file."""
        return {**file.aliases, **self.bound.get(file, {})}

    def used_exercises(self, file: StudentFile, exercise: Exercise) -> list[str]:
        """Return the earlier exercises that a file defines and `exercise` uses, in the order of the course."""
        order, aliases, used = list(file.course.exercises), self.aliases(file), file.needs(exercise)
        earlier = order[: order.index(exercise.name)]
        return [name for name in earlier if name in aliases and aliases[name] in used]

    def blocks(self, file: StudentFile, exercise: Exercise) -> list[Block]:
        """Return the blocks of an exercise that the student wrote, each with the file that defines it.

        That is this file, otherwise the first other one: of the earlier files if the exercise is made of parts, of the
        files beside this one if not.
        """
        files: list[tuple[StudentFile, Mapping[str, str]]] = [(file, self.aliases(file))]
        if exercise.is_made_of_parts:
            files += [(self._earlier(file, part), part.names) for part in file.parts]
        else:
            files += [(other, self.aliases(other)) for other in file.beside]
        known = [name for name in exercise.given if name in file.course.exercises]
        return [(name, of[0]) for name in known if (of := [of for of, names in files if name in names])]

    def _earlier(self, file: StudentFile, part: Part) -> StudentFile:
        content = part.submission.content
        if content not in self.earlier:
            self.earlier[content] = student_file(file.course, part.submission)
        return self.earlier[content]

    @property
    def losses(self) -> int:
        """How many workers were lost, also those that a top-level statement ended."""
        return self.lost + len(self.endless)

    def request(self, file: StudentFile, exercise: Exercise, replaced: Sequence[str]) -> LoadRequest:
        """Return the load request for an exercise. An exercise that is made of parts gets the student's parts.

        replaced: names of the student's blocks that are replaced by the course's.
        """
        blocks, aliases = self.blocks(file, exercise), self.aliases(file)
        named = [(name, of, self.aliases(of)) for name, of in blocks if name in replaced]
        written = [(name, of, names[name]) for name, of, names in named if name in names]
        request = LoadRequest(
            file.submission,
            exercise,
            dict(aliases),
            {alias: name for name, _of, alias in written} | {name: name for name in replaced},
            {alias: of.keywords(of.course.exercises[name]) for name, of, alias in written},
            endless=self.endless,
            renamed=file.interface(exercise).renamed,
        )
        if not exercise.is_made_of_parts:
            return request
        here = [name for name, of in blocks if of is file and name not in replaced]
        own = [name for name in here if not file.is_untouched(file.course.exercises[name])]
        return replace(request, parts=file.parts, own={name: aliases[name] for name in own})

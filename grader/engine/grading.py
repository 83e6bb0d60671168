"""What one grading goes by: its terms and options, and what is known so far about the student's files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from grader.bundle.model import Exercise
from grader.engine.lease import Note, Workers
from grader.engine.load_request import LoadRequest
from grader.engine.session import Training, WorkerGone
from grader.engine.student_file import CourseTables, StudentFile
from grader.report.model import ExerciseResult

# Top-level statements that are left out because they timed out. After so many, all loops and all calls of the file's
# own definitions are left out, too.
MAX_ENDLESS = 3


@dataclass(frozen=True)
class Terms:
    """What depends on who reads a report, and on who wrote the file. One module reads each field.

    seed: which cases are used, as the report names it.
    redacts: the report shows nothing that code could choose after it saw a case.
    believes_exceptions: an exception may decide which missing name a report shows.
    skips_after_timeout: one timeout is enough, because a second one shows a student nothing new.
    caches: the results of long trainings may be cached.
    searches_lines: edits of a failed answer may be tried, to find the lines to look at.
    saves_outcomes: the outcomes are saved in the course folder.
    asks_author: the reader wrote the file, so the report asks to change it.
    may_lack_gpu: code that raises because there is no GPU could not be graded.
    may_be_of_schools: code in a form of another school is graded in it, and code that is for other inputs has another
    interface.
    counts: the points are recorded, so no code is graded for another task.
    offers_blocks: an exercise may use every building block that does not contain its answer.
    lists_other_code: the report says which code was not graded.
    """

    seed: Literal["public", "hidden"] = "public"
    redacts: bool = False
    believes_exceptions: bool = True
    skips_after_timeout: bool = True
    caches: bool = True
    searches_lines: bool = True
    saves_outcomes: bool = True
    asks_author: bool = True
    may_lack_gpu: bool = False
    may_be_of_schools: bool = False
    counts: bool = True
    offers_blocks: bool = False
    lists_other_code: bool = False


def of_strangers(terms: Terms) -> Terms:
    """Return the terms for a file that was not written for the course; its points are not recorded."""
    return replace(
        terms,
        asks_author=False,
        may_lack_gpu=True,
        may_be_of_schools=True,
        counts=False,
        offers_blocks=True,
        lists_other_code=True,
    )


PUBLIC = Terms()
HIDDEN = Terms(
    seed="hidden",
    redacts=True,
    believes_exceptions=False,
    skips_after_timeout=False,
    caches=False,
    searches_lines=False,
    saves_outcomes=False,
)
FOREIGN = of_strangers(PUBLIC)


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

    results: (file, exercise) → its result.
    bound: file → exercise → the name that the file's code gave to it, if its text does not show it.
    notes: file → what a worker said about its top-level code before any case ran.
    endless: top-level statements that timed out, as (file, line); they are left out of all files.
    apart: exercises, with the content of their file, whose cases were lost when they ran together: they run one by one.
    lost: how many workers were lost.
    """

    context: Context
    results: dict[tuple[StudentFile, str], ExerciseResult] = field(default_factory=dict)
    bound: dict[StudentFile, dict[str, str]] = field(default_factory=dict)
    notes: dict[StudentFile, tuple[Note, ...]] = field(default_factory=dict)
    endless: list[tuple[str, int]] = field(default_factory=list)
    apart: set[tuple[str, str]] = field(default_factory=set)
    lost: int = 0

    @property
    def reasons(self) -> int:
        """Return how many reasons were found to run an attempt again, but in another way."""
        return len(self.endless) + len(self.apart)

    def leaves_out(self, gone: WorkerGone) -> bool:
        """Remember the top-level statement that ran when a worker was lost while it loaded a file.

        Return whether it is now left out. A worker that computes within one call of C is killed at its limit of CPU
        time: it "died".
        """
        if gone.statement is None or gone.why not in ("time", "died") or len(self.endless) == MAX_ENDLESS:
            return False
        self.endless.append(gone.statement)
        return True

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
            files += [(of, part.names) for of, part in zip(file.earlier, file.parts, strict=True)]
        else:
            files += [(other, self.aliases(other)) for other in file.beside]
        known = [name for name in exercise.given if name in file.course.exercises]
        return [(name, of[0]) for name in known if (of := [of for of, names in files if name in names])]

    def request(self, file: StudentFile, exercise: Exercise, replaced: Sequence[str]) -> LoadRequest:
        """Return the load request for an exercise. An exercise that is made of parts gets the student's parts.

        replaced: names of the student's blocks that are replaced by the course's.
        """
        blocks, aliases = self.blocks(file, exercise), self.aliases(file)
        named = [(name, of, self.aliases(of)) for name, of in blocks if name in replaced]
        written = [(name, of, names[name]) for name, of, names in named if name in names]
        own = []
        if exercise.is_made_of_parts:
            here = [name for name, of in blocks if of is file and name not in replaced]
            own = [name for name in here if not file.is_untouched(file.course.exercises[name])]
        return LoadRequest(
            file.submission,
            exercise,
            aliases,
            {alias: name for name, _of, alias in written} | {name: name for name in replaced},
            {alias: of.keywords(of.course.exercises[name]) for name, of, alias in written},
            file.interface(exercise).renamed,
            file.interface(exercise).called,
            file.parts if exercise.is_made_of_parts else (),
            {name: aliases[name] for name in own},
            tuple(self.endless),
            brief=len(self.endless) == MAX_ENDLESS,
        )

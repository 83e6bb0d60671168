"""A student's file that is graded: its definitions, load requests, results and blocks; and the options of an engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from grader.bundle.model import Exercise
from grader.engine.interface import Interface, Source, interface, keywords_in_place, takes_mask
from grader.engine.lease import Workers
from grader.engine.load_request import History, LoadRequest
from grader.engine.session import Training
from grader.engine.student_parts import Part
from grader.intake.names import Definition, Names, read_names, untouched
from grader.intake.needs import needs
from grader.intake.read import Submission
from grader.intake.recognise import match
from grader.report.finding import Fact
from grader.report.model import ExerciseResult


def _ignore(*_progress: object) -> None:
    """Discard progress."""


@dataclass(frozen=True)
class GradingOptions:
    """Options of one engine.

    device: "cpu", "sim" or "cuda".
    hidden: the cases are hidden; results are redacted before anyone sees them.
    quick: skip costly cases (the longest training).
    foreign: the file was not written for the course, and its points are not recorded.
    reuse_worker: all sources are trusted, so one worker may serve them all.
    torch_version: the version of torch that the report names.
    cache: the folder of cached results of exercises that take long; None grades every time.
    on_exercise: called with the name of each exercise before the exercise is graded.
    on_training: called with a title and the state of a training while it runs.
    """

    device: str = "cpu"
    hidden: bool = False
    quick: bool = False
    foreign: bool = False
    reuse_worker: bool = False
    torch_version: str = ""
    cache: Path | None = None
    on_exercise: Callable[[str], None] = _ignore
    on_training: Callable[[str, Training], None] = _ignore


DEFAULTS = GradingOptions()


@dataclass(frozen=True)
class Context:
    """The tables made from the bundles of a course, the workers, and the options of an engine.

    contracts: exercise → its definition in the original stub.
    stubs: assignment → its original stub and what it defines.
    """

    exercises: Mapping[str, Exercise]
    contracts: Mapping[str, Definition]
    stubs: Mapping[str, Source]
    workers: Workers
    options: GradingOptions


@dataclass(eq=False)
class SubmissionRun:
    """One file of a student that is graded. The interface and the needed names of a definition are computed once.

    parts: the student's earlier files; the model of the capstone is made of definitions in them.
    aliases: exercise → the name that it has in the file.
    done: exercise → its result.
    earlier, neighbours: runs of the student's earlier files, by content, and of the files beside this one, by name.
    unsteady: exercises whose result may be chance, because workers were lost.
    """

    context: Context
    submission: Submission
    names: Names
    parts: tuple[Part, ...] = ()
    aliases: dict[str, str] = field(init=False)
    done: dict[str, ExerciseResult] = field(default_factory=dict)
    earlier: dict[str, SubmissionRun] = field(default_factory=dict)
    neighbours: dict[str, SubmissionRun] = field(default_factory=dict)
    history: History = field(default_factory=History)
    unsteady: set[str] = field(default_factory=set)
    _needed: dict[str, frozenset[str]] = field(default_factory=dict)
    _interfaces: dict[tuple[str, str], Interface] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.aliases = match(self.context.contracts, self.names)

    @property
    def lost(self) -> int:
        """Return the number of workers lost so far with this file and with the student's other files."""
        # Not `run.lost`: the runs of neighbours share `neighbours`, so it would call itself without end.
        beside = sum(run.history.lost for run in self.neighbours.values())
        return self.history.lost + beside + sum(run.lost for run in self.earlier.values())

    # ---- the text

    def alias(self, exercise: Exercise) -> str:
        """Return the name under which the file defines an exercise, or should define it."""
        return self.aliases.get(exercise.name, exercise.name)

    def definition(self, exercise: Exercise) -> Definition | None:
        return self.names.definitions.get(self.alias(exercise))

    def needs(self, exercise: Exercise) -> frozenset[str]:
        """Return the names of this file that an exercise needs."""
        name = self.alias(exercise)
        if name not in self._needed:
            self._needed[name] = needs(self.submission, self.names, name)
        return self._needed[name]

    def used_exercises(self, exercise: Exercise) -> list[str]:
        """Return the earlier exercises that the file defines and `exercise` uses, in the order of the course."""
        order = list(self.context.exercises)
        used = self.needs(exercise)
        earlier = order[: order.index(exercise.name)]
        return [name for name in earlier if name in self.aliases and self.aliases[name] in used]

    def is_untouched(self, exercise: Exercise) -> bool:
        """Whether the file defines the exercise as the original stub does."""
        stub = self.context.stubs.get(exercise.assignment)
        same_name = self.aliases.get(exercise.name) == exercise.name
        return stub is not None and same_name and untouched(exercise.name, self.names, stub.names)

    def interface(self, exercise: Exercise) -> Interface:
        """Return how the grader calls the file's definition of an exercise."""
        key = exercise.name, self.alias(exercise)
        if key not in self._interfaces:
            self._interfaces[key] = interface(exercise, key[1], self._source, self._stub(exercise))
        return self._interfaces[key]

    def takes_mask(self, exercise: Exercise) -> Fact | None:
        """Return how the interface differs if `forward` has a mask where the course passes lengths; None otherwise."""
        return takes_mask(exercise, self.alias(exercise), self._source, self._stub(exercise))

    def keywords(self, exercise: Exercise) -> dict[str, str]:
        """Return a dict: keyword of the file's function or constructor → the course's keyword at this position."""
        return keywords_in_place(exercise.name, self.alias(exercise), self._source, self._stub(exercise))

    @property
    def _source(self) -> Source:
        return Source(self.submission, self.names)

    def _stub(self, exercise: Exercise) -> Source:
        return self.context.stubs[exercise.assignment]

    # ---- the building blocks that the student wrote

    def blocks(self, exercise: Exercise) -> list[Block]:
        """Return the blocks of an exercise that the student wrote, and the run of the file that defines each."""
        known = [name for name in exercise.given if name in self.context.exercises]
        # The right side of `|` wins: the submission itself, otherwise the first other file that defines the name.
        defined_in = {name: self for name in known if name in self.aliases}
        if exercise.is_made_of_parts:
            for part in self.parts:
                content = part.submission.content
                if content not in self.earlier:
                    self.earlier[content] = self._run_of(part.submission)
                earlier = self.earlier[content]
                defined_in = {name: earlier for name in known if name in part.names} | defined_in
        else:
            for beside in self._beside():
                defined_in = {name: beside for name in known if name in beside.aliases} | defined_in
        return [(name, defined_in[name]) for name in known if name in defined_in]

    def _beside(self) -> list[SubmissionRun]:
        """Return one run per file beside the submission. All these runs share `neighbours`."""
        for one in self.submission.neighbours:
            if one.name not in self.neighbours:
                others = tuple(other for other in self.submission.neighbours if other is not one)
                alone = Submission(self.submission.path, (one,), neighbours=others)
                self.neighbours[one.name] = self._run_of(alone, neighbours=self.neighbours)
        return list(self.neighbours.values())

    def _run_of(self, submission: Submission, **shared: Any) -> SubmissionRun:
        """Return the run of another file of the student. A statement that timed out is left out in all files' runs."""
        history = History(endless=self.history.endless)
        return SubmissionRun(self.context, submission, read_names(submission), history=history, **shared)

    # ---- loading

    def request(self, exercise: Exercise, replaced: Sequence[str]) -> LoadRequest:
        """Return the load request for an exercise. An exercise that is made of parts gets the student's parts.

        replaced: names of the student's blocks that are replaced by the course's.
        """
        blocks = self.blocks(exercise)
        written = [(name, run) for name, run in blocks if name in replaced and name in run.aliases]
        request = LoadRequest(
            self.submission,
            exercise,
            dict(self.aliases),
            {run.aliases[name]: name for name, run in written} | {name: name for name in replaced},
            {run.aliases[name]: run.keywords(run.context.exercises[name]) for name, run in written},
            history=self.history,
            renamed=self.interface(exercise).renamed,
        )
        if not exercise.is_made_of_parts:
            return request
        here = [name for name, run in blocks if run is self and name not in replaced]
        own = [name for name in here if not self.is_untouched(self.context.exercises[name])]
        return replace(request, parts=self.parts, own={name: self.aliases[name] for name in own})


Block = tuple[str, SubmissionRun]  # the name of a block, and the run of the file that defines it

"""Grade submissions: case → worker → observation → judge → report. The one place where these meet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.bundle.model import Bundle, Exercise
from grader.engine.context import Context
from grader.engine.result_cache import Remembered
from grader.engine.session import Training
from grader.engine.student_parts import Part
from grader.engine.submission_run import Run
from grader.engine.visibility import in_chains
from grader.engine.worker_slot import Workplace
from grader.intake.names import match, read_names
from grader.intake.read import Submission, Unit
from grader.report.model import ExerciseResult, Report
from grader.sandbox.base import Launcher
from grader.support.version import __version__

Progress = Callable[[str], None]


@dataclass
class Engine:
    """Grades with one launcher and the bundles of one course, public or hidden."""

    bundles: Sequence[Bundle]
    launcher: Launcher
    device: str = "cpu"
    hidden: bool = False
    trusting: bool = False  # the sources are all ours: one worker serves them all
    quick: bool = False  # leave out what takes more than a few seconds
    progress: Progress = lambda name: None
    training: Callable[[str, Training], None] = lambda title, training: None
    remembered: Remembered | None = None  # results of exercises that take long
    torch_version: str = ""

    def __post_init__(self) -> None:
        self.place = Workplace(self.launcher, self.device, self.trusting, self.hidden)
        self.exercises = {e.name: e for b in self.bundles for e in b.exercises}
        self.constructors = {e.name: _keywords(e) for e in self.exercises.values()}
        self.stubs = {b.assignment: read_names(_stub(b)) for b in self.bundles}

    def known(self, submission: Submission) -> dict[str, str]:
        """Exercise → the name it stands under, for every known exercise that the submission defines."""
        return match(self.constructors, read_names(submission))

    def grade(
        self, submission: Submission, wanted: Sequence[str] | None = None, parts: Sequence[Part] = ()
    ) -> Report:
        """Grade the known exercises of a submission, or those `wanted`, and tell of them in the order of the course.

        They are graded in the order that needs fewest workers. An exercise that is wanted and not defined is
        *blocked*. parts: what its author wrote in earlier files, for exercises that are made of such parts.
        """
        run = Run(self.context, submission, read_names(submission), tuple(parts))
        names = [n for n in self.exercises if n in wanted] if wanted is not None else list(run.aliases)
        exercises = [exercise for name, exercise in self.exercises.items() if name in names]
        for exercise in in_chains(exercises):
            self.progress(exercise.name)
            run.grade(exercise)
        return self.report([run.done[exercise.name] for exercise in exercises])

    @property
    def context(self) -> Context:
        return Context(
            exercises=self.exercises,
            constructors=self.constructors,
            stubs=self.stubs,
            slot=self.place,
            device=self.device,
            hidden=self.hidden,
            quick=self.quick,
            torch_version=self.torch_version,
            training=self.training,
            cache=self.remembered,
        )

    def report(self, results: Sequence[ExerciseResult]) -> Report:
        return Report(
            exercises=tuple(results),
            sandbox=self.launcher.tier,
            torch=self.torch_version,
            grader=__version__,
            seed="hidden" if self.hidden else "public",
        )

    def close(self) -> None:
        """End the worker, not the launcher. Safe to call twice."""
        self.place.close()


def _keywords(exercise: Exercise) -> frozenset[str] | None:
    """The keywords that every case builds the exercise's class with; None for a function."""
    built = [
        s for case in exercise.cases for s in case.steps if s["do"] == "build" and s["of"] == exercise.name
    ]
    return (
        frozenset.intersection(*(frozenset(s["kwargs"]) - frozenset(s["may_drop"]) for s in built))
        if built
        else None
    )


def _stub(bundle: Bundle) -> Submission:
    return Submission(Path(f"{bundle.module}.py"), (Unit(f"{bundle.module}.py", bundle.stub),))

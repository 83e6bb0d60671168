"""One worker at a time, and what is loaded in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader.bundle import Exercise, RecordedCase
from grader.given import BLOCKS, source
from grader.i18n import _
from grader.intake.read import Submission, Unit
from grader.sandbox.base import Launcher, Limits, SandboxError
from grader.sentences import last_line
from grader.session import Session, WorkerGone
from grader.shown import shown, with_requirements

NOTHING = Submission(Path("nothing.py"), (Unit("nothing.py", "pass"),))


@dataclass(frozen=True)
class Loaded:
    """A submission in a worker: the names it has, and what is to be said about loading it."""

    key: tuple[object, ...]
    content: str
    shown: frozenset[str]
    limits: Limits
    names: frozenset[str]
    notes: tuple[dict[str, Any], ...]


class Workplace:
    """Has one worker at a time and loads submissions into it.

    A worker serves one submission. It goes on from an exercise to one that may be shown more, and the file is
    then loaded `again`: what it says while it loads is no longer told, since by then it has seen cases.
    `trusting` is for sources that are all ours: one worker serves them all.
    """

    def __init__(self, launcher: Launcher, device: str = "cpu", trusting: bool = False):
        self.launcher = launcher
        self.trusting = trusting
        self.again = False  # whether the worker has run cases of this submission before it was loaded last
        self._device = device
        self._session: Session | None = None
        self._loaded: Loaded | None = None

    @property
    def names(self) -> frozenset[str]:
        return self._loaded.names if self._loaded else frozenset()

    @property
    def notes(self) -> tuple[dict[str, Any], ...]:
        return self._loaded.notes if self._loaded else ()

    def session(
        self,
        submission: Submission,
        exercise: Exercise,
        replaced: tuple[str, ...] = (),
        skip: Sequence[tuple[str, int]] = (),
    ) -> Session:
        """A session in which the submission is loaded with what this exercise may use. Raises WorkerGone."""
        sight, bounds = shown(exercise), limits(exercise)
        key = (submission.content, sight, replaced, tuple(skip))
        if self._session is not None and self._loaded is not None and self._loaded.key == key:
            return self._session
        if not self._may_go_on(submission, sight, bounds):
            self.close()
        again = self._loaded is not None and not self.trusting
        if self._session is None:
            self._session = Session(self.launcher, bounds)
        self._session.limits = bounds
        self._session.files = frozenset(unit.name for unit in submission.units)
        try:
            words = self._load(submission, exercise, replaced, skip)
        except WorkerGone:
            if not again:
                raise
            return self.session(submission, exercise, replaced, skip)  # in a worker that did nothing before
        names, notes = words.get("names"), words.get("notes")
        self._loaded = Loaded(
            key,
            submission.content,
            sight,
            bounds,
            frozenset(n for n in names if isinstance(n, str)) if isinstance(names, list) else frozenset(),
            tuple(n for n in notes if isinstance(n, dict)) if isinstance(notes, list) and not again else (),
        )
        self.again = again
        return self._session

    def close(self) -> None:
        """End the worker, not the launcher. Safe to call twice."""
        if self._session is not None:
            self._session.close()
        self._session, self._loaded, self.again = None, None, False

    def require_well(
        self, exercise: Exercise, request: dict[str, Any] | None, case: RecordedCase | None, why: str
    ) -> None:
        """Raises SandboxError if a worker breaks down without the submission too: then the fault is ours.

        Of a worker that ran a student's code it cannot be believed: code that fails could say so, and lose
        no points.
        """
        self.close()
        try:
            session = self.session(NOTHING, exercise)
            broken = case is not None and "fault" in session.ask(request or {}, case.body).words
        except WorkerGone:
            broken = True
        finally:
            self.close()
        if broken:
            raise SandboxError(_("the worker failed: {what}").format(what=why))

    def _may_go_on(self, submission: Submission, sight: frozenset[str], bounds: Limits) -> bool:
        """Whether the worker there is may serve: its bounds are set for good, and what it saw it may have kept."""
        there = self._loaded
        if there is None or replace(bounds, wall_seconds=0.0) != replace(there.limits, wall_seconds=0.0):
            return False
        return self.trusting or (there.content == submission.content and there.shown <= sight)

    def _load(
        self,
        submission: Submission,
        exercise: Exercise,
        replaced: tuple[str, ...],
        skip: Sequence[tuple[str, int]],
    ) -> dict[str, Any]:
        assert self._session is not None
        allowed = with_requirements(exercise.given)
        request = {
            "op": "load",
            "device": self._device,
            "units": [vars(unit) for unit in submission.units],
            "given": {name: source(name) for name in allowed},
            "withheld": [name for name in BLOCKS if name not in allowed],
            "replace": list(replaced),
            "skip": list(skip),
        }
        try:
            words = self._session.ask(request).words
            if "fault" in words:
                raise WorkerGone("fault", last_line(words["fault"]))
        except WorkerGone:
            self.close()
            raise
        return words


def limits(exercise: Exercise) -> Limits:
    """The manifest's, and the defaults for what it does not name."""
    chosen = exercise.limits
    return Limits(
        wall_seconds=chosen.get("wall_seconds", Limits.wall_seconds),
        cpu_seconds=int(chosen.get("cpu_seconds", Limits.cpu_seconds)),
        memory_bytes=int(chosen.get("memory_bytes", Limits.memory_bytes)),
        output_bytes=int(chosen.get("output_bytes", Limits.output_bytes)),
    )

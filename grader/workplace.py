"""One worker at a time, and what is loaded in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader.bundle import Exercise, RecordedCase
from grader.given import BLOCKS, source
from grader.i18n import _
from grader.intake.read import Submission, Unit
from grader.parts import Part, content
from grader.sandbox.base import Launcher, Limits, SandboxError
from grader.sentences import last_line
from grader.session import Session, WorkerGone
from grader.shown import shown, with_requirements

SHORT_SECONDS = 60.0  # at most, for loading a file and for a case that is not costly

NOTHING = Submission(Path("nothing.py"), (Unit("nothing.py", "pass"),))


@dataclass(frozen=True)
class Loaded:
    """A submission in a worker: the names it has, and what is to be said about loading it."""

    key: tuple[object, ...]
    content: str
    shown: frozenset[str]
    limits: Limits
    names: frozenset[str]
    own: frozenset[str]  # parts that the student wrote in earlier files, of those that are there
    notes: tuple[dict[str, Any], ...]


class Workplace:
    """Has one worker at a time and loads submissions into it.

    A worker serves one submission. It goes on from an exercise to one that may be shown more, and the file is
    then loaded `again`: what it says while it loads is no longer told, since by then it has seen cases.
    `trusting` is for sources that are all ours: one worker serves them all.
    """

    def __init__(self, launcher: Launcher, device: str = "cpu", trusting: bool = False, hidden: bool = False):
        self.launcher = launcher
        self._hidden = hidden
        self.trusting = trusting
        self.again = False  # whether the worker has run cases of this submission before it was loaded last
        self._device = device
        self._session: Session | None = None
        self._loaded: Loaded | None = None

    @property
    def names(self) -> frozenset[str]:
        return self._loaded.names if self._loaded else frozenset()

    @property
    def own(self) -> frozenset[str]:
        return self._loaded.own if self._loaded else frozenset()

    @property
    def notes(self) -> tuple[dict[str, Any], ...]:
        return self._loaded.notes if self._loaded else ()

    def session(
        self,
        submission: Submission,
        exercise: Exercise,
        replaced: tuple[str, ...] = (),
        skip: Sequence[tuple[str, int]] = (),
        parts: Sequence[Part] = (),
        own: Mapping[str, str] | None = None,
    ) -> Session:
        """A session in which the submission is loaded with what this exercise may use. Raises WorkerGone.

        `parts`, `own`: the parts of earlier files and of this one that models may be made of.
        """
        sight, bounds = shown(exercise), limits(exercise)
        whole = content(submission, parts)
        key = (whole, tuple(own or ()), sight, replaced, tuple(skip))
        there = self._loaded
        if self._session and there and there.key == key and _same_process(there.limits, bounds):
            self._session.limits = bounds
            return self._session
        if not self._may_go_on(whole, sight, bounds):
            self.close()
        again = self._loaded is not None and not self.trusting
        if self._session is None:
            self._session = Session(self.launcher, bounds)
        self._session.limits = bounds
        files = (submission, *(part.submission for part in parts))
        self._session.files = frozenset(unit.name for file in files for unit in file.units)
        try:
            words = self._load(submission, exercise, replaced, skip, parts, own or {})
        except WorkerGone:
            if not again:
                raise
            # In a worker that did nothing before.
            return self.session(submission, exercise, replaced, skip, parts, own)
        notes = words.get("notes")
        self._loaded = Loaded(
            key,
            whole,
            sight,
            bounds,
            _names(words.get("names")),
            _names(words.get("own")),
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
            seconds = None if case is None else patience(exercise, case)
            broken = case is not None and "fault" in session.ask(request or {}, case.body, seconds).words
        except WorkerGone:
            broken = True
        finally:
            self.close()
        if broken:
            raise SandboxError(
                _("the worker failed: {what}").format(what=_("on a hidden case") if self._hidden else why)
            )

    def _may_go_on(self, whole: str, sight: frozenset[str], bounds: Limits) -> bool:
        """Whether the worker there is may serve: its bounds are set for good, and what it saw it may have kept."""
        there = self._loaded
        if there is None or not _same_process(there.limits, bounds):
            return False
        return self.trusting or (there.content == whole and there.shown <= sight)

    def _load(
        self,
        submission: Submission,
        exercise: Exercise,
        replaced: tuple[str, ...],
        skip: Sequence[tuple[str, int]],
        parts: Sequence[Part],
        own: Mapping[str, str],
    ) -> dict[str, Any]:
        assert self._session is not None
        bounds = self._session.limits
        allowed = with_requirements(exercise.given)
        request = {
            "op": "load",
            "device": self._device,
            "units": [vars(unit) for unit in submission.units],
            "given": {name: source(name) for name in allowed},
            "withheld": [name for name in BLOCKS if name not in allowed],
            "replace": list(replaced),
            "skip": list(skip),
            "parts": [part.request(replaced) for part in parts],
            "own": dict(own),
        }
        try:
            words = self._session.ask(request, seconds=short(bounds)).words
            if "fault" in words:
                raise WorkerGone("fault", last_line(words["fault"]))
        except WorkerGone:
            self.close()
            raise
        return words


def _same_process(one: Limits, other: Limits) -> bool:
    """Whether a process that was started with the one may serve the other: only wall seconds are not set for good."""
    return replace(one, wall_seconds=0.0) == replace(other, wall_seconds=0.0)


def _names(told: object) -> frozenset[str]:
    return frozenset(n for n in told if isinstance(n, str)) if isinstance(told, list) else frozenset()


def patience(exercise: Exercise, case: RecordedCase) -> float:
    """Seconds for one case: only what is known to be costly may take all that the exercise may."""
    bounds = limits(exercise)
    return bounds.wall_seconds if case.costly else short(bounds)


def short(bounds: Limits) -> float:
    """Seconds for what need not take long."""
    return min(bounds.wall_seconds, SHORT_SECONDS)


def limits(exercise: Exercise) -> Limits:
    """The manifest's, and the defaults for what it does not name."""
    chosen = exercise.limits
    return Limits(
        wall_seconds=chosen.get("wall_seconds", Limits.wall_seconds),
        cpu_seconds=int(chosen.get("cpu_seconds", Limits.cpu_seconds)),
        memory_bytes=int(chosen.get("memory_bytes", Limits.memory_bytes)),
        output_bytes=int(chosen.get("output_bytes", Limits.output_bytes)),
    )

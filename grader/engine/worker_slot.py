"""One worker at a time, and what is loaded in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader.bundle.model import Exercise, RecordedCase
from grader.engine.load_request import Setting, patience, short
from grader.engine.messages import last_line
from grader.engine.session import Session, WorkerGone
from grader.intake.read import Submission, Unit
from grader.sandbox.base import Launcher, Limits, SandboxError
from grader.support.i18n import _

NOTHING = Submission(Path("nothing.py"), (Unit("nothing.py", "pass"),))


@dataclass(frozen=True)
class Loaded:
    """A setting in a worker: the names it has, and what is to be said about loading it."""

    setting: Setting
    bounds: Limits
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

    def session(self, setting: Setting) -> Session:
        """A session in which this is loaded. Raises WorkerGone."""
        if self._session and self._holds(setting):
            self._session.limits = setting.bounds
            return self._session
        if self._may_go_on_to(setting):
            try:
                return self._load(setting, again=not self.trusting)
            except WorkerGone:  # perhaps the doing of what it ran before
                if self.trusting:
                    raise
        self.close()
        return self._load(setting)

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
            session = self.session(Setting(NOTHING, exercise))
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

    def _holds(self, setting: Setting) -> bool:
        there = self._loaded
        return there is not None and there.setting.key == setting.key and self._is_bound_by(setting.bounds)

    def _may_go_on_to(self, setting: Setting) -> bool:
        """Whether the worker there is may serve: what it saw it may have kept."""
        there = self._loaded
        if there is None or not self._is_bound_by(setting.bounds):
            return False
        before = there.setting
        return self.trusting or (before.content == setting.content and before.sight <= setting.sight)

    def _is_bound_by(self, bounds: Limits) -> bool:
        """Whether the worker was started with these: only wall seconds are not set for good."""
        there = self._loaded
        return there is not None and replace(there.bounds, wall_seconds=0.0) == replace(
            bounds, wall_seconds=0.0
        )

    def _load(self, setting: Setting, again: bool = False) -> Session:
        bounds = setting.bounds
        if self._session is None:
            self._session = Session(self.launcher, bounds)
        session = self._session
        session.limits = bounds
        session.files = setting.files
        try:
            words = session.ask(setting.request(self._device), seconds=short(bounds)).words
            if "fault" in words:
                raise WorkerGone("fault", last_line(words["fault"]))
        except WorkerGone:
            self.close()
            raise
        notes = [] if again else words.get("notes")
        self._loaded = Loaded(
            setting,
            bounds,
            _names(words.get("names")),
            _names(words.get("own")),
            tuple(n for n in notes if isinstance(n, dict)) if isinstance(notes, list) else (),
        )
        self.again = again
        return session


def _names(told: object) -> frozenset[str]:
    return frozenset(n for n in told if isinstance(n, str)) if isinstance(told, list) else frozenset()

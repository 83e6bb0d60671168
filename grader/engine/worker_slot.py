"""Own one worker: start, load, reuse, retry, replace and close it. Other code ends it only by `WorkerSlot.close`.

The rules:
- A worker serves one submission. It is reused only if the next exercise may see every block that the exercise before
  could see, because code could store what it saw. With `reuse_worker`, it may serve several submissions.
- A top-level statement that times out is skipped whenever the file is loaded again. After MAX_ENDLESS of them, all loops
  and all calls of the file's own definitions are skipped, too.
- If a worker is lost, perhaps by chance or because of an earlier exercise, the grader tries once more in a new worker
  (`MAX_TRIES`).
- If a worker reports a fault (an unexpected exception), the grader runs a plain file. If that fails too, the fault is
  the grader's.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from grader.bundle.model import Exercise, RecordedCase
from grader.engine.load_request import (
    MAX_ENDLESS,
    LoadRequest,
    case_message,
    case_timeout,
    default_timeout,
    load_timeout,
)
from grader.engine.session import (
    EditedStatement,
    Reply,
    Session,
    Training,
    Tried,
    WorkerGone,
    last_line,
    tried,
)
from grader.intake.read import Submission, Unit
from grader.judge.exceptions import lost_message
from grader.judge.observation import BadReply, Observation, read_observation, read_observations
from grader.sandbox.base import Launcher, Limits, SandboxError
from grader.support.errors import GraderError
from grader.support.i18n import _
from grader.support.sanitize import sanitize

PLAIN_FILE = Submission(Path("nothing.py"), (Unit("nothing.py", "pass"),))
MAX_TRIES = 2  # for a load or a case whose worker may have ended by chance
TOGETHER_SECONDS = 2.0  # for all cases of one message; if it times out, the cases run one by one
# Reasons for a lost worker (see `WorkerGone`) that may be chance or the effect of an earlier exercise.
MAY_BE_CHANCE = ("died", "stale", "fault")
OnTraining = Callable[[Training], None]


class CannotLoad(GraderError):
    """The submission cannot be loaded, or does not define the exercise; the message is a sentence."""


@dataclass(frozen=True)
class Loaded:
    """A request that a worker has loaded.

    names: the names that the submission defines. notes: on statements that failed or were skipped, and on imports.
    reloaded: the worker had loaded this submission for another exercise before. Then there are no notes, because the
    code may have seen cases and could write them into an error.
    """

    request: LoadRequest
    names: frozenset[str]
    own: frozenset[str]  # building blocks that the student also wrote, in earlier files or in this one
    notes: tuple[dict[str, Any], ...]
    reloaded: bool

    def has_limits(self, limits: Limits) -> bool:
        """Whether the worker was started with these limits; wall seconds are set per message."""
        own = self.request.limits
        return own == replace(limits, wall_seconds=own.wall_seconds)


class WorkerSlot:
    """Holds at most one worker.

    reuse_worker: all sources are trusted, so one worker serves them all.
    """

    def __init__(self, launcher: Launcher, device: str = "cpu", reuse_worker: bool = False):
        self.launcher = launcher
        self._device = device
        self._reuse_worker = reuse_worker
        self.stop = threading.Event()  # set by another thread: the grading under way raises Stopped
        self._session: Session | None = None
        self._loaded: Loaded | None = None

    @property
    def reloaded(self) -> bool:
        """Whether the worker had loaded the submission for another exercise before."""
        return self._loaded is not None and self._loaded.reloaded

    def load(self, request: LoadRequest) -> Loaded:
        """Load a submission for an exercise, in the current worker or in a new one.

        Raises CannotLoad if the file cannot be loaded, and SandboxError if the grader is at fault.
        """
        history = request.history
        losses = 0
        while True:
            try:
                loaded = self._hold(request.skipping())
                if not loaded.reloaded:
                    history.notes = loaded.notes
                if not loaded.reloaded or loaded.names & request.names:
                    return loaded
                self.close()  # this reload does not define the exercise: load it in a new worker
            except WorkerGone as gone:
                history.lost += 1
                # A worker that computes within one call of C is killed at its limit of CPU time: it "died".
                late = gone.statement if gone.why in ("time", "died") else None
                if late is not None and len(history.endless) < MAX_ENDLESS:
                    history.endless.append(late)
                    continue
                losses += 1
                if gone.why in MAY_BE_CHANCE and losses < MAX_TRIES:
                    continue
                if gone.why == "fault":
                    self._ensure_healthy(request.exercise, None)
                raise CannotLoad(how_loading_ended(gone)) from None

    def observe(
        self, request: LoadRequest, case: RecordedCase, on_training: OnTraining | None = None
    ) -> Observation:
        """Load the request if no worker holds it, and run one case.

        Raises WorkerGone if the worker was lost while the case ran, and what `load` raises.
        """
        try:
            return self._observe(request, case, on_training)
        except WorkerGone:
            request.history.lost += 1
            raise

    def observe_all(self, request: LoadRequest, cases: Sequence[RecordedCase]) -> dict[str, Observation]:
        """Run several cases with one message. Return case id → its observation; the last cases may be missing.

        This only saves time: `observe` can run a missing case. If anything goes wrong, the worker is closed
        and the result is empty. Each observation has the prints of all cases.
        """
        try:
            self.load(request)
            session, bodies = self._require_session(), [case.body for case in cases]
            messages = [case_message(request, case)["case"] for case in cases]
            message = {"op": "run_all", "cases": messages, "sizes": list(map(len, bodies))}
            seconds = min(TOGETHER_SECONDS, default_timeout(request.limits))
            reply = session.ask(message, b"".join(bodies), seconds)
            seen = read_observations(reply.words, reply.body, cases, session.files)
        except (WorkerGone, BadReply, CannotLoad, SandboxError):
            self.close()
            return {}
        return {case.id: replace(one, printed=reply.printed) for case, one in zip(cases, seen, strict=False)}

    def try_edits(
        self,
        request: LoadRequest,
        case: RecordedCase,
        edits: Sequence[EditedStatement],
        cpu: float,
        wall: float,
        each: float,
        lines: bool = False,
    ) -> Tried:
        """Load the request if no worker holds it, and run one case once per edit, until the CPU time is over.

        cpu: CPU seconds for all edits. each: CPU seconds for one edit. wall: seconds until the worker is given up.
        lines: also ask which lines ran. Raises WorkerGone, and what `load` raises.
        """
        self.load(request)
        session = self._require_session()
        message = {
            "op": "try",
            "case": case_message(request, case)["case"] | {"about": []},  # watching for calls takes time
            "edits": [vars(edit) for edit in edits],
            "seconds": cpu,
            "each": each,
            "lines": lines,
        }
        try:
            reply = session.ask(message, case.body, wall)
        except WorkerGone:
            self.close()
            raise
        return tried(reply.words, reply.body, case.asked, session.files)

    def close(self) -> None:
        """End the worker, not the launcher. Safe to call twice."""
        if self._session is not None:
            self._session.close()
        self._session, self._loaded = None, None

    def _observe(
        self, request: LoadRequest, case: RecordedCase, on_training: OnTraining | None
    ) -> Observation:
        message = case_message(request, case)
        timeout = case_timeout(request.exercise, case)
        for tries in range(1, MAX_TRIES + 1):
            loaded = self.load(request)
            session = self._require_session()
            try:
                reply = _answer(session, message, case.body, timeout, on_training)
                break
            except WorkerGone as gone:
                self.close()
                if tries < MAX_TRIES and (loaded.reloaded or gone.why in MAY_BE_CHANCE):
                    continue
                if gone.why == "fault":
                    self._ensure_healthy(request.exercise, case)
                raise
        try:
            seen = read_observation(reply.words, reply.body, case.asked, session.files)
            return replace(seen, printed=reply.printed) if reply.printed else seen
        except BadReply as error:
            raise WorkerGone("reply", str(error)) from None

    def _ensure_healthy(self, exercise: Exercise, case: RecordedCase | None) -> None:
        """Raise SandboxError if a worker reports a fault with a plain file too: then the grader is at fault.

        A fault that a worker with student code reports proves nothing: failing code could report one, to lose no
        points. Only the message of the plain file's worker is quoted.
        """
        self.close()
        try:
            plain = LoadRequest(PLAIN_FILE, exercise)
            self._hold(plain)
            if case is not None:
                timeout = case_timeout(exercise, case)
                _answer(self._require_session(), case_message(plain, case), case.body, timeout)
        except WorkerGone as gone:
            what = gone.detail or gone.why
            raise SandboxError(_("the worker failed: {what}").format(what=what)) from None
        finally:
            self.close()

    def _hold(self, request: LoadRequest) -> Loaded:
        there = self._loaded
        if there is not None and self._session is not None and there.has_limits(request.limits):
            if there.request.key == request.key:
                self._session.limits = request.limits
                return there
            if self._reuse_worker:
                return self._load(request)
            # Code can store what it saw, so the next exercise must be allowed to see it, too.
            is_seen = there.request.visible_blocks <= request.visible_blocks
            if there.request.content == request.content and is_seen:
                try:
                    return self._load(request, reloaded=True)
                except WorkerGone:
                    pass  # perhaps the effect of what this worker ran before: try a new worker
        self.close()
        return self._load(request)

    def _load(self, request: LoadRequest, reloaded: bool = False) -> Loaded:
        session = self._session = self._session or Session(self.launcher, request.limits, stop=self.stop)
        session.limits, session.files = request.limits, request.files
        try:
            seconds = load_timeout(request.limits)
            words = _answer(session, request.message(self._device), b"", seconds).words
            if "late" in words:
                raise _late(words["late"], request.files)
        except WorkerGone:
            self.close()
            raise
        notes = [] if reloaded else words.get("notes")
        known = tuple(n for n in notes if isinstance(n, dict)) if isinstance(notes, list) else ()
        names, own = _names(words.get("names")), _names(words.get("own"))
        self._loaded = Loaded(request, names, own, known, reloaded)
        return self._loaded

    def _require_session(self) -> Session:
        assert self._session is not None
        return self._session


def _answer(
    session: Session, message: dict[str, Any], body: bytes, seconds: float, tell: OnTraining | None = None
) -> Reply:
    reply = session.ask(message, body, seconds, tell)
    if "fault" in reply.words:
        raise WorkerGone("fault", last_line(reply.words["fault"]))
    return reply


def how_loading_ended(gone: WorkerGone) -> str:
    """Return one sentence about a worker that was lost before any case ran."""
    if gone.why != "time":
        how = lost_message(gone.why, sanitize(gone.detail, 200))
        return _("the file could not be loaded: {how}").format(how=how)
    if gone.place:
        says = _("the file could not be loaded: its top-level code did not finish at {place}")
        return says.format(place=gone.place)
    return _("the file could not be loaded: its top-level code did not finish")


def _late(statement: object, files: frozenset[str]) -> WorkerGone:
    """Return the exception for a worker that stopped loading a file. statement: [file, line], or None."""
    gone = WorkerGone("time")
    match statement:
        case [str(file), int(line)] if file in files:
            gone.line = gone.statement = file, line
    return gone


def _names(value: object) -> frozenset[str]:
    return frozenset(n for n in value if isinstance(n, str)) if isinstance(value, list) else frozenset()

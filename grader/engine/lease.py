"""Lease workers: reuse the held one if the next exercise may, or start another; load a file and run cases in it.

A worker serves one submission. It is leased again only if the next exercise may see every block that the exercise
before could see, because code could store what it saw. With `reuse_worker`, it may serve several submissions.
Who repeats what after a loss: `attempt.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from grader.bundle.model import RecordedCase
from grader.engine.load_request import (
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
from grader.judge.observation import Observation, read_observation, read_observations
from grader.sandbox.base import Launcher, Limits, SandboxError
from grader.support.errors import BadData

TOGETHER_SECONDS = 2.0  # for all cases of one message; if it times out, the cases run one by one
OnTraining = Callable[[Training], None]


@dataclass(frozen=True)
class Loaded:
    """What a worker says about a file that it has loaded.

    names: the names that it defines. notes: on statements that failed or were skipped, and on imports.
    own: building blocks that the student also wrote, in earlier files or in this one.
    """

    names: frozenset[str]
    own: frozenset[str]
    notes: tuple[dict[str, Any], ...]


@dataclass
class Lease:
    """A worker for one load request. Whatever ends the worker closes its session; then the lease is void.

    used: the worker had loaded the submission for another exercise before. Then there are no notes, because the
    code may have seen cases and could write them into an error.
    loaded: None until `load` was called.
    """

    start: Callable[[Limits], Session]
    session: Session
    request: LoadRequest
    device: str
    used: bool = False
    loaded: Loaded | None = None

    def load(self) -> Loaded:
        """Load the file, unless the worker has loaded it for this request.

        A top-level statement that times out is remembered and left out of this and every later load. That repeats
        nothing: each round loads another, shorter file, in another worker. Raises WorkerGone and SandboxError.
        """
        while self.loaded is None:
            try:
                self.loaded = self._loaded()
            except WorkerGone as gone:
                if self.used or not self.request.leaves_out(gone.why, gone.statement):
                    raise
                self.request = self.request.skipping()
                self.session = self.start(self.request.limits)
        return self.loaded

    def observe(self, case: RecordedCase, on_training: OnTraining | None = None) -> Observation:
        """Run one case with the loaded file. Raises WorkerGone."""
        timeout = case_timeout(self.request.exercise, case)
        reply = self._ask(case_message(self.request, case), case.body, timeout, on_training)
        try:
            seen = read_observation(reply.words, reply.body, case.asked, self.session.files)
        except BadData as error:
            raise WorkerGone("reply", str(error)) from None
        return replace(seen, printed=reply.printed) if reply.printed else seen

    def observe_all(self, cases: Sequence[RecordedCase]) -> dict[str, Observation]:
        """Run several cases with one message. Return case id → its observation; the last cases may be missing.

        This only saves time: `observe` can run a missing case. If anything goes wrong, the worker is closed
        and the result is empty. Each observation has the prints of all cases.
        """
        bodies = [case.body for case in cases]
        messages = [case_message(self.request, case)["case"] for case in cases]
        message = {"op": "run_all", "cases": messages, "sizes": list(map(len, bodies))}
        seconds = min(TOGETHER_SECONDS, default_timeout(self.request.limits))
        try:
            reply = self.session.ask(message, b"".join(bodies), seconds)
            seen = read_observations(reply.words, reply.body, cases, self.session.files)
        except (WorkerGone, BadData, SandboxError):
            self.session.close()
            return {}
        return {case.id: replace(one, printed=reply.printed) for case, one in zip(cases, seen, strict=False)}

    def try_edits(
        self,
        case: RecordedCase,
        edits: Sequence[EditedStatement],
        cpu: float,
        wall: float,
        each: float,
        lines: bool = False,
    ) -> Tried:
        """Run one case once per edit of the loaded file, until the CPU time is over.

        cpu: CPU seconds for all edits. each: CPU seconds for one edit. wall: seconds until the worker is given up.
        lines: also ask which lines ran. Raises WorkerGone.
        """
        run = case_message(self.request, case)["case"]
        message = {
            "op": "try",
            "case": msgspec.structs.replace(run, about=()),  # watching for calls takes time
            "edits": [vars(edit) for edit in edits],
            "seconds": cpu,
            "each": each,
            "lines": lines,
        }
        reply = self.session.ask(message, case.body, wall)
        return tried(reply.words, reply.body, case.asked, self.session.files)

    def _loaded(self) -> Loaded:
        self.session.files = self.request.files
        words = self._ask(self.request.message(self.device), b"", load_timeout(self.request.limits)).words
        if "late" in words:
            self.session.close()
            raise _late(words["late"], self.request.files)
        notes = [] if self.used else words.get("notes")
        known = tuple(n for n in notes if isinstance(n, dict)) if isinstance(notes, list) else ()
        return Loaded(_names(words.get("names")), _names(words.get("own")), known)

    def _ask(
        self, message: dict[str, Any], body: bytes, seconds: float, tell: OnTraining | None = None
    ) -> Reply:
        reply = self.session.ask(message, body, seconds, tell)
        if "fault" in reply.words:
            self.session.close()
            raise WorkerGone("fault", last_line(reply.words["fault"]))
        return reply


class Workers:
    """Holds at most one worker, and leases it.

    reuse_worker: all sources are trusted, so one worker serves them all.
    """

    def __init__(self, launcher: Launcher, device: str = "cpu", reuse_worker: bool = False):
        self.launcher = launcher
        self.stop = threading.Event()  # set by another thread: the grading under way raises Stopped
        self._device = device
        self._reuse_worker = reuse_worker
        self._held: Lease | None = None

    @property
    def used(self) -> bool:
        """Whether the held worker had loaded a submission for another exercise before the last lease."""
        return self._held is not None and self._held.used

    @property
    def session(self) -> Session | None:
        """Return the session with the held worker."""
        return self._held.session if self._held is not None else None

    def lease(self, request: LoadRequest) -> Lease:
        """Return a lease of the held worker, if it may serve this request, or of a new one. Raises SandboxError."""
        request, held = request.skipping(), self._held
        if held is None or held.session.closed or not held.session.may_serve(request.limits):
            held = None
        # Code can store what it saw, so the next exercise must be allowed to see it, too.
        elif held.request.key == request.key:
            held = replace(held, request=request)
        elif self._reuse_worker:
            held = replace(held, request=request, loaded=None)
        elif (
            held.request.content == request.content and held.request.visible_blocks <= request.visible_blocks
        ):
            held = replace(held, request=request, loaded=None, used=True)
        else:
            held = None
        if held is None:
            self.close()
            held = Lease(self._start, self._start(request.limits), request, self._device)
        held.session.limits = request.limits
        self._held = held
        return held

    def close(self) -> None:
        """End the worker, not the launcher. Safe to call twice."""
        if self._held is not None:
            self._held.session.close()
        self._held = None

    def _start(self, limits: Limits) -> Session:
        return Session(self.launcher, limits, stop=self.stop)


def _late(statement: object, files: frozenset[str]) -> WorkerGone:
    """Return the exception for a worker that stopped loading a file. statement: [file, line], or None."""
    gone = WorkerGone("time")
    match statement:
        case [str(file), int(line)] if file in files:
            gone.line = gone.statement = file, line
    return gone


def _names(value: object) -> frozenset[str]:
    return frozenset(n for n in value if isinstance(n, str)) if isinstance(value, list) else frozenset()

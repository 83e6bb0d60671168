"""Lease workers: reuse the held one if the next exercise may, or start another; load a file and run cases in it.

A worker serves one submission. It is leased again only if the next exercise may see every block that the exercise
before could see, because code could store what it saw. With `reuse_worker`, it may serve several submissions.
Who repeats what after a loss: `attempt.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from grader.bundle.model import RecordedCase
from grader.engine.load_request import LoadRequest, case_timeout, default_timeout, load_timeout
from grader.engine.session import Reply, Session, Training, WorkerGone, last_line
from grader.judge.observation import (
    Observation,
    StudentError,
    read_observation,
    read_observations,
    student_error,
    texts,
)
from grader.sandbox.base import Launcher, SandboxError
from grader.support.errors import BadData
from grader.worker.frames import END_OF_CASE
from grader.worker.steps import Asked, to_body

TOGETHER_SECONDS = 2.0  # for all cases of one message; if it times out, the cases run one by one
OnTraining = Callable[[Training], None]


@dataclass(frozen=True)
class Note:
    """What a worker says about a top-level statement that failed or was skipped, or about an import. Code can forge it.

    error: that the statement raised. whole: no statement of the unit ran. endless: it timed out. defines: names that it
    should have defined. missing: names that its failed import of `module` should have bound. block: the building block
    that was used instead. neighbour: `file` is a file beside the submission, which was loaded.
    """

    file: str
    line: int
    error: StudentError | None = None
    whole: bool = False
    endless: bool = False
    defines: Sequence[str] = ()
    missing: Sequence[str] = ()
    module: str = ""
    block: str = ""
    neighbour: bool = False

    @classmethod
    def read(cls, words: Mapping[str, Any]) -> Note:
        """Read a note as far as it has the expected types."""
        line = words.get("line")
        return cls(
            _text(words.get("file")),
            line if isinstance(line, int) else 0,
            student_error(words.get("error")),
            bool(words.get("whole")),
            bool(words.get("endless")),
            texts(words.get("defines")),
            texts(words.get("missing")),
            _text(words.get("module")),
            _text(words.get("block")),
            bool(words.get("neighbour")),
        )


@dataclass(frozen=True)
class Loaded:
    """What a worker says about a file that it has loaded.

    names: the names that it defines.
    own: building blocks that the student also wrote, in earlier files or in this one.
    """

    names: frozenset[str]
    own: frozenset[str]
    notes: tuple[Note, ...]


@dataclass
class Lease:
    """A worker for one load request. Whatever ends the worker closes its session; then the lease is void.

    used: the worker had loaded the submission for another exercise before. Then there are no notes, because the
    code may have seen cases and could write them into an error.
    loaded: None until `load` was called.
    """

    session: Session
    request: LoadRequest
    device: str
    used: bool = False
    loaded: Loaded | None = None

    def load(self) -> Loaded:
        """Load the file, unless the worker has loaded it for this request. Raises WorkerGone and SandboxError."""
        if self.loaded is None:
            self.session.files = self.request.files
            timeout = load_timeout(self.request.limits)
            words = self._ask(self.request.message(self.device), b"", timeout).words
            if "late" in words:
                self.session.close()
                raise _late(words["late"], self.request.files)
            notes = [] if self.used else words.get("notes")
            known = (
                tuple(Note.read(n) for n in notes if isinstance(n, dict)) if isinstance(notes, list) else ()
            )
            self.loaded = Loaded(_names(words.get("names")), _names(words.get("own")), known)
        return self.loaded

    def observe(self, case: RecordedCase, on_training: OnTraining | None = None) -> Observation:
        """Run one case with the loaded file. Raises WorkerGone."""
        timeout = case_timeout(self.request.exercise, case)
        reply = self._ask({"op": "run"}, self._body([case]), timeout, on_training)
        try:
            seen = read_observation(reply.words, reply.body, case.asked, self.session.files)
        except BadData as error:
            raise WorkerGone("reply", str(error)) from None
        return replace(seen, printed=reply.printed) if reply.printed else seen

    def observe_all(self, cases: Sequence[RecordedCase]) -> dict[str, Observation]:
        """Run several cases with one message. Return case id → its observation; the last cases may be missing.

        This only saves time: `observe` can run a missing case. If anything goes wrong, the worker is closed and the
        result is empty.
        """
        seconds = min(TOGETHER_SECONDS, default_timeout(self.request.limits))
        try:
            reply = self.session.ask({"op": "run_all"}, self._body(cases), seconds)
            seen = read_observations(reply.words, reply.body, cases, self.session.files)
        except (WorkerGone, BadData, SandboxError):
            self.session.close()
            return {}
        # Code may print the end of a case, too: this only moves its own texts.
        printed = [*reply.printed.split(END_OF_CASE), *[""] * len(cases)]
        found = zip(cases, seen, printed, strict=False)
        return {case.id: replace(one, printed=text) for case, one, text in found}

    def try_edits(
        self, case: RecordedCase, edits: Sequence[Mapping[str, str]], cpu: float, wall: float, each: float
    ) -> tuple[list[Observation], float]:
        """Run one case once per edit of the loaded file, until the CPU time is over. Raises WorkerGone.

        edits: see `run_edits.try_edits`. cpu: CPU seconds for all edits. each: for one edit. wall: seconds until
        the worker is given up. Returns the observations, one per edit in their order, and the CPU seconds that the
        worker reports.
        """
        run = msgspec.structs.replace(self.request.run(case), about=())  # watching for calls takes time
        message = {"op": "try", "edits": edits, "seconds": cpu, "each": each}
        reply = self.session.ask(message, to_body([Asked(run, case.body)]), wall)
        try:
            seen = read_observations(reply.words, reply.body, [case] * len(edits), self.session.files)
            return seen, float(reply.words["cpu"])
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise WorkerGone("reply", type(error).__name__) from None

    def _body(self, cases: Sequence[RecordedCase]) -> bytes:
        return to_body([Asked(self.request.run(case), case.body) for case in cases])

    def _ask(
        self, message: dict[str, Any], body: bytes, seconds: float, tell: OnTraining | None = None
    ) -> Reply:
        reply = self.session.ask(message, body, seconds, tell)
        if "fault" in reply.words:
            self.session.close()
            raise WorkerGone("fault", last_line(reply.words["fault"]))
        return reply


class Workers:
    """Leases workers. At most one is held.

    reuse_worker: all sources are trusted, so one worker serves them all.
    """

    def __init__(self, launcher: Launcher, device: str = "cpu", reuse_worker: bool = False):
        self.launcher = launcher
        self.stop = threading.Event()  # set by another thread: the grading under way raises Stopped
        self.held: Lease | None = None
        self._device = device
        self._reuse_worker = reuse_worker

    @property
    def used(self) -> bool:
        """Whether the held worker had loaded a submission for another exercise before the last lease."""
        return self.held is not None and self.held.used

    def lease(self, request: LoadRequest) -> Lease:
        """Return a lease of the held worker, if it may serve this request, or of a new one. Raises SandboxError."""
        lease = self._leased_again(request)
        if lease is None:
            self.close()
            lease = Lease(Session(self.launcher, request.limits, stop=self.stop), request, self._device)
        lease.session.limits = request.limits
        self.held = lease
        return lease

    def _leased_again(self, request: LoadRequest) -> Lease | None:
        held = self.held
        if held is None or held.session.closed or not held.session.may_serve(request.limits):
            return None
        if held.request.key == request.key:
            return replace(held, request=request)
        if self._reuse_worker:
            return replace(held, request=request, loaded=None)
        # Code can store what it saw, so the next exercise must be allowed to see it, too.
        sees_more = held.request.visible_blocks <= request.visible_blocks
        if held.request.content == request.content and sees_more:
            return replace(held, request=request, loaded=None, used=True)
        return None

    def close(self) -> None:
        """End the worker, not the launcher. Safe to call twice."""
        if self.held is not None:
            self.held.session.close()
        self.held = None


def _late(statement: object, files: frozenset[str]) -> WorkerGone:
    """Return the exception for a worker that stopped loading a file. statement: [file, line], or None."""
    gone = WorkerGone("time")
    match statement:
        case [str(file), int(line)] if file in files:
            gone.line = gone.statement = file, line
    return gone


def _text(value: object) -> str:
    return value[:400] if isinstance(value, str) else ""


def _names(value: object) -> frozenset[str]:
    return frozenset(n for n in value if isinstance(n, str)) if isinstance(value, list) else frozenset()

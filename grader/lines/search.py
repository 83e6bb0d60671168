"""Try candidates on the failing cases, within a budget; those that pass every case are certified."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import inf

from grader.bundle.model import Exercise, RecordedCase
from grader.engine.load_request import LoadRequest
from grader.engine.session import WorkerGone
from grader.engine.worker_slot import CannotLoad, WorkerSlot
from grader.judge.normalise import normalise_layouts
from grader.judge.observation import Observation
from grader.judge.verdict import judge_case
from grader.lines.candidates import Place
from grader.lines.source_edit import Edit
from grader.lines.suspects import Effects, Statement, distance
from grader.sandbox.base import SandboxError

BATCH = 12  # candidates per request
MORE_SECONDS = 0.4  # of CPU time after the first repair, to see whether another line repairs too
MAX_REPAIRS = 12


@dataclass
class Budget:
    """CPU seconds of the grader and of the worker as it says, and seconds of the clock, for one exercise.

    The rest of 1.5 s is for the fresh worker that certifies.
    """

    cpu: float = 1.3
    wall: float = 2.0
    worker: float = 0.0
    started: float = field(default_factory=time.monotonic)
    cpu_started: float = field(default_factory=time.thread_time)

    @property
    def spent(self) -> float:
        return time.thread_time() - self.cpu_started + max(self.worker, 0.0)

    @property
    def cpu_left(self) -> float:
        return self.cpu - self.spent

    @property
    def wall_left(self) -> float:
        return self.wall - (time.monotonic() - self.started)


@dataclass(frozen=True)
class Candidate:
    place: Place
    edit: Edit

    @property
    def statement(self) -> Statement:
        return self.place.unit, self.edit.statement


@dataclass
class Search:
    """One exercise of one submission, and what the edits of each statement did."""

    slot: WorkerSlot
    request: LoadRequest
    budget: Budget
    effects: dict[Statement, Effects] = field(default_factory=lambda: defaultdict(Effects))
    at_first: float = 0.0  # the distance of the submission's own result; see `suspects.distance`
    tried: int = 0
    first_at: float = 0.0
    until: float = inf  # CPU seconds at which the search ends

    def run(
        self, candidates: Sequence[Candidate], cases: Sequence[RecordedCase], failing: frozenset[str]
    ) -> list[Candidate]:
        """The candidates that pass every case in the worker, in the order in which they were found.

        failing: the ids of the cases that the submission fails.
        """
        found: list[Candidate] = []
        try:
            screens = self._screens([c for c in cases if c.id in failing], candidates[0].place)
            others = sorted(cases, key=lambda c: c.id not in failing)
            for candidate in self._survivors(candidates, screens):
                if self._passes(candidate, others):
                    found.append(candidate)
                    self.first_at = self.first_at or self.budget.spent
                    self.until = min(self.until, self.budget.spent + MORE_SECONDS)
                else:
                    self.effects[candidate.statement].passed_one += 1
                if len(found) == MAX_REPAIRS:
                    break
        except (WorkerGone, CannotLoad, SandboxError):
            self.slot.close()
        return found

    def _screens(self, failing: Sequence[RecordedCase], place: Place) -> list[RecordedCase]:
        """The failing case that takes least time, without gradients where it fails without them too."""
        nothing = Edit("", (), (0, 0), 0)
        timed: list[tuple[float, int, RecordedCase, Observation]] = []
        for case in sorted(failing, key=lambda c: (c.dtype != "float32", len(c.steps)))[:4]:
            for form in (without_gradients(case), case):
                if form is None:
                    continue
                before = self.budget.worker
                seen = self._observe(form, [Candidate(place, nothing)])
                if seen and not passes(form, seen[0]):
                    timed.append((self.budget.worker - before, len(timed), form, seen[0]))
                    break
        if not timed:
            return []
        _seconds, _number, case, own = min(timed, key=lambda one: one[:2])
        self.at_first = distance(case, own)
        return [case]

    def _survivors(
        self, candidates: Sequence[Candidate], screens: Sequence[RecordedCase]
    ) -> Iterator[Candidate]:
        """The candidates that pass the first failing case."""
        if not screens:
            return
        for start in range(0, len(candidates), BATCH):
            batch = candidates[start : start + BATCH]
            over = self.budget.spent > self.until
            if over or min(self.budget.cpu_left, self.budget.wall_left) <= 0:
                return
            seen = self._observe(screens[0], batch)
            self.tried += len(seen)
            for candidate, observation in zip(batch, seen, strict=False):
                reached = distance(screens[0], observation)
                self.effects[candidate.statement].distances.append(reached)
                if passes(screens[0], observation):
                    yield candidate

    def _passes(self, candidate: Candidate, cases: Sequence[RecordedCase]) -> bool:
        for case in cases:
            seen = self._observe(case, [candidate]) if self.budget.cpu_left > 0 else []
            if not seen or not passes(case, seen[0]):
                return False
        return True

    def _observe(self, case: RecordedCase, candidates: Sequence[Candidate]) -> list[Observation]:
        edits = [candidate.place.edited(candidate.edit) for candidate in candidates]
        cpu, wall = max(self.budget.cpu_left, 0.05), max(self.budget.wall_left, 0.05)
        tried = self.slot.try_edits(self.request, case, edits, cpu, wall)
        self.budget.worker += max(tried.cpu, 0.0)
        return [normalise_layouts(one, case.steps) for one in tried.observations]


def passes(case: RecordedCase, observation: Observation) -> bool:
    """Whether every check of a case passes that counts."""
    return all(check.outcome in ("passed", "advice") for check in judge_case(case, observation).checks)


def without_gradients(case: RecordedCase) -> RecordedCase | None:
    """The same case without its gradients; None if it has none, or checks nothing else."""
    checks = tuple(c for c in case.checks if not any(name.startswith("grad ") for name in c.of))
    steps = tuple(step for step in case.steps if step["do"] != "gradients")
    if not checks or len(steps) == len(case.steps):
        return None
    return replace(case, steps=steps, checks=checks)


def runnable(exercise: Exercise) -> list[RecordedCase]:
    """The cases that a search may run: none that is costly or needs an exam."""
    return [case for case in exercise.cases if not case.costly and case.exam is None]

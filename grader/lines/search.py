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

BATCH = 16  # candidates per request, at most
SECONDS_PER_BATCH = 0.25
MORE_SECONDS = 0.4  # of CPU time after the first repair, to see whether another line repairs too
MAX_REPAIRS = 12


@dataclass
class Budget:
    """CPU seconds of the grader and of the worker as it says, and seconds of the clock, for one exercise.

    cpu: for the search. most: with the certification, which is not begun if it may take longer than is left.
    """

    cpu: float = 1.3
    most: float = 1.5
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

    @property
    def neighbours(self) -> list[Statement]:
        """The statements before and after its own."""
        order = self.place.statements
        here = order.index(self.edit.statement)
        return [
            (self.place.unit, line) for line in (*order[max(here - 1, 0) : here], *order[here + 1 : here + 2])
        ]


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
    ran: frozenset[tuple[str, int]] = frozenset()  # the lines that ran in the failing cases
    passing: float = 0.0  # CPU seconds that a repair took for all cases, at most
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
            for candidate in self._survivors(self._that_ran_first(candidates), screens):
                before = self.budget.spent
                if self._passes(candidate, others):
                    found.append(candidate)
                    self.first_at = self.first_at or self.budget.spent
                    self.passing = max(self.passing, self.budget.spent - before)
                    last = self.budget.most - self.passing  # leaves the time to certify
                    self.until = min(self.until, self.budget.spent + MORE_SECONDS, last)
                else:
                    self.effects[candidate.statement].passed_one += 1
                if len(found) == MAX_REPAIRS:
                    break
        except (WorkerGone, CannotLoad, SandboxError):
            self.slot.close()
        return found

    def may_certify(self) -> bool:
        """Whether all cases can be run once more in the time that is left."""
        return self.budget.spent + self.passing <= self.budget.most

    def _that_ran_first(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The candidates in their order, those of statements that did not run in the failing cases last."""
        idle: dict[int, set[int]] = {}
        for one in candidates:
            if self.ran and id(one.place) not in idle:
                idle[id(one.place)] = one.place.without(self.ran)
        return sorted(candidates, key=lambda one: one.edit.statement in idle.get(id(one.place), ()))

    def _screens(self, failing: Sequence[RecordedCase], place: Place) -> list[RecordedCase]:
        """The failing case that takes least time, without gradients where it fails without them too."""
        nothing = Edit("", (), (0, 0), 0)
        timed: list[tuple[float, int, RecordedCase, Observation]] = []
        for case in sorted(failing, key=lambda c: (c.dtype != "float32", len(c.steps)))[:4]:
            for form in (without_gradients(case), case):
                if form is None:
                    continue
                before = self.budget.worker
                seen = self._observe(form, [Candidate(place, nothing)], lines=True)
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
        start, each, began = 0, 0.02, self.budget.spent
        while start < len(candidates):
            left = min(self.budget.cpu_left, self.budget.wall_left, self.until - self.budget.spent)
            if left < each:
                return
            size = int(min(left, SECONDS_PER_BATCH) / each)
            batch = candidates[start : start + min(max(size, 1), BATCH)]
            seen = self._observe(screens[0], batch)
            start += max(len(seen), 1)
            self.tried += len(seen)
            each = (self.budget.spent - began) / start
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

    def _observe(
        self, case: RecordedCase, candidates: Sequence[Candidate], lines: bool = False
    ) -> list[Observation]:
        edits = [candidate.place.edited(candidate.edit) for candidate in candidates]
        cpu, wall = max(self.budget.cpu_left, 0.05), max(self.budget.wall_left, 0.05)
        tried = self.slot.try_edits(self.request, case, edits, cpu, wall, lines)
        self.ran |= tried.lines
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

"""Try edits on one failing case, within a budget. Try those that pass this case on all cases."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from msgspec import structs

from grader.bundle.model import Exercise, RecordedCase
from grader.engine.lease import Workers
from grader.engine.load_request import LoadRequest
from grader.engine.session import WorkerGone
from grader.judge.observation import Observation, normalise_layouts
from grader.judge.verdict import judged, lacks
from grader.lines.places import Edit
from grader.lines.suspects import Effects, distance
from grader.sandbox.base import SandboxError
from grader.worker.steps import Load, Stages, observes

BATCH = 32  # edits per request, at most
SECONDS_PER_BATCH = 0.25  # of CPU time that a request may take
MORE_SECONDS = 0.4  # of CPU time after the first repair, to see whether another line repairs too
LONGER = 1.1  # running all cases again in a new worker may take this many times as long as in the search
SECONDS_PER_EDIT = 0.25  # of CPU time, for one run of a case
SUBMITTED = {"file": "", "source": ""}  # an edit that changes nothing
TIMES_OWN = 8  # an edit is given up if it takes this many times as long as the submission itself


@dataclass
class Budget:
    """The time for one exercise: CPU seconds of the grader and the worker together, and seconds of the clock.

    cpu: CPU seconds for the search. most: CPU seconds for the search and the certification (all cases once more, in
    a new worker), which is not begun if it may take longer than is left. wall: seconds of the clock. worker: CPU
    seconds that the worker has reported so far.
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


@dataclass
class Search:
    """One exercise of one submission.

    request: what the worker loads before it tries edits.
    """

    workers: Workers
    request: LoadRequest
    budget: Budget
    effects: Effects = field(default_factory=Effects)
    passing: float = 0.0  # the most CPU seconds that a repair took for all cases
    own: float = 0.0  # CPU seconds of the submission itself for the screen; see `_screen`
    each: float = SECONDS_PER_EDIT  # CPU seconds that one edit may take for the screen
    until: float = inf  # CPU seconds at which the search ends

    def run(
        self, edits: Sequence[Edit], cases: Sequence[RecordedCase], failing: frozenset[str]
    ) -> list[Edit]:
        """Return the edits that pass every case in the worker, in the order in which they were found.

        failing: the ids of the cases that the submission fails.
        """
        found: list[Edit] = []
        try:
            screen = self._screen([case for case in cases if case.id in failing])
            failing_first = sorted(cases, key=lambda c: c.id not in failing)
            for edit in self._survivors(edits, screen) if screen else ():
                before = self.budget.spent
                if self._passes(edit, failing_first):
                    found.append(edit)
                    self.passing = max(self.passing, self.budget.spent - before)
                    last = self.budget.most - LONGER * self.passing  # leaves the time to certify
                    self.until = min(self.until, self.budget.spent + MORE_SECONDS, last)
        except (WorkerGone, SandboxError):
            self.workers.close()
        return found

    def may_certify(self) -> bool:
        """Return whether all cases can be run once more in the time that is left.

        If so, already count the time of the fresh worker that certifies.
        """
        if self.budget.spent + LONGER * self.passing > self.budget.most or self.budget.wall_left <= 0:
            return False
        self.budget.worker += self.passing
        return True

    def _screen(self, failing: Sequence[RecordedCase]) -> RecordedCase | None:
        """Return the screen: a failing case up to its first failing check; None if it passes when it is repeated.

        It is float32 rather than another dtype, then the one of the fewest steps.
        Set `own`, `each` and `effects.at_first` from a run of the submission itself.
        """
        case = min(failing, key=lambda c: (c.dtype != "float32", len(c.steps)))
        for whole in self._observe(case, [SUBMITTED]):  # at most one observation
            screen = up_to_first_failure(case, whole)
            before = self.budget.worker
            for seen in self._observe(screen, [SUBMITTED]):
                self.own = self.budget.worker - before
                self.effects.at_first = distance(screen, seen)
                if seen.error is None:
                    self.each = min(SECONDS_PER_EDIT, TIMES_OWN * self.own + 0.02)
                return None if passes(screen, seen) else screen
        return None

    def _survivors(self, edits: Sequence[Edit], screen: RecordedCase) -> Iterator[Edit]:
        """Yield the edits that pass the screen, until the time is over."""
        start = 0
        while start < len(edits):
            left = min(self.budget.cpu_left, self.budget.wall_left, self.until - self.budget.spent)
            if left < self.own:
                return
            batch = edits[start : start + BATCH]
            most = min(left, SECONDS_PER_BATCH)
            seen = self._observe(screen, [edit.edited for edit in batch], most, self.each)
            start += max(len(seen), 1)  # at least 1: a wrong reply may have no observation
            for edit, observation in zip(batch, seen, strict=False):
                self.effects.add(edit.statement, distance(screen, observation))
                if passes(screen, observation):
                    yield edit

    def _passes(self, edit: Edit, cases: Sequence[RecordedCase]) -> bool:
        for case in cases:
            seen = self._observe(case, [edit.edited]) if self.budget.cpu_left > 0 else []
            if not seen or not passes(case, seen[0]):
                return False
        return True

    def _observe(
        self,
        case: RecordedCase,
        edits: Sequence[Mapping[str, str]],
        cpu: float = inf,
        each: float = SECONDS_PER_EDIT,
    ) -> list[Observation]:
        cpu, wall = max(min(cpu, self.budget.cpu_left), 0.05), max(self.budget.wall_left, 0.05)
        lease = self.workers.lease(self.request)
        lease.load()
        observations, seconds = lease.try_edits(case, edits, cpu, wall, each)
        self.budget.worker += max(seconds, 0.0)
        return [normalise_layouts(one, case.steps) for one in observations]


def passes(case: RecordedCase, observation: Observation) -> bool:
    """Whether all checks of a case pass, except policies, whose failures cost no points."""
    raised = observation.error is not None
    for check in case.checks:
        unseen = raised and check.judge != "raises" and lacks(check, observation)
        if not check.policy and (unseen or not judged(check, case, observation).passed):
            return False
    return True


def up_to_first_failure(case: RecordedCase, observation: Observation) -> RecordedCase:
    """Cut the case after the last step that its first failing check needs. Keep the checks that need no later step.

    observation: the result of the whole case. Gradients are left out if something else fails before them.
    """
    if any(check.judge == "raises" for check in case.checks):
        return case
    loaded = max((place for place, step in enumerate(case.steps) if isinstance(step, Load)), default=0)
    needed = {c.id: max((_step_of(case, name) for name in c.of), default=loaded) for c in case.checks}
    for last in sorted(set(needed.values())):
        checks = tuple(check for check in case.checks if needed[check.id] <= last)
        short = structs.replace(case, steps=case.steps[: last + 1], checks=checks)
        if not passes(short, observation):
            return short
    return case


def _step_of(case: RecordedCase, name: str) -> int:
    """Return the number of the step that makes an observation; the last one if it is not known."""
    places = (place for place, step in enumerate(case.steps) if observes(step, name))
    return next(places, len(case.steps) - 1)


def runnable(exercise: Exercise) -> list[RecordedCase]:
    """Return the cases that a search may run, without their `stages`: steps that only the diagnosis needs.

    It may run neither costly cases nor those that a worker without student code measures.
    """
    return [
        structs.replace(case, steps=tuple(step for step in case.steps if not isinstance(step, Stages)))
        for case in exercise.cases
        if not case.costly and case.exam is None
    ]

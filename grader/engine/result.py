"""From judged cases to the result of an exercise: points, diagnosis, remarks."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from grader.bundle.model import Exercise
from grader.diagnosis.match import diagnose
from grader.diagnosis.signature import fingerprint, named_by
from grader.engine.figures import figures
from grader.engine.messages import of_layout, of_use
from grader.engine.scoring import score
from grader.intake.policy import Use, uses
from grader.intake.read import Submission
from grader.judge.observation import Observation
from grader.judge.redact import without_numbers
from grader.judge.trivial import is_trivial
from grader.report.model import NO_DIAGNOSIS, CheckResult, ExerciseResult, Outcome
from grader.support.i18n import _
from grader.support.sanitize import sanitize


@dataclass(frozen=True)
class Attempt:
    """One try at one exercise: whose, under which name, since when; hidden or not."""

    exercise: Exercise
    submission: Submission
    alias: str
    started: float
    hidden: bool

    def concluded(
        self, checks: Sequence[CheckResult], observations: Mapping[str, Observation], remarks: Sequence[str]
    ) -> ExerciseResult:
        """The result of judged cases. The diagnosis is asked only after the verdict has said no."""
        exercise = self.exercise
        if any(c.outcome == "could_not_grade" for c in checks):
            why = next(c.message for c in checks if c.outcome == "could_not_grade")
            return self.result("could_not_grade", message=why, checks=checks)
        passed = all(c.outcome == "passed" for c in checks)
        used = self._used(observations.values())
        reached = exercise.points if passed else self._reached(checks, observations)
        diagnosis = NO_DIAGNOSIS if passed else diagnose(exercise, observations, checks)
        if self.hidden and diagnosis.kind in ("unknown", "none"):
            diagnosis = replace(diagnosis, says=without_numbers(diagnosis.says))
        unknown = diagnosis.kind == "unknown"
        return replace(
            self.result(
                "passed" if passed else "failed",
                checks=checks,
                remarks=[*remarks, *self._remarks(checks, observations, used)],
            ),
            score=round(reached * (1 - exercise.forbids_costs), 6) if used else reached,
            diagnosis=diagnosis,
            fingerprint=fingerprint(named_by(exercise.cases), observations) if unknown else "",
            figures={} if self.hidden else figures(exercise.cases, observations),
        )

    def result(
        self,
        outcome: Outcome,
        *,
        message: str = "",
        checks: Sequence[CheckResult] = (),
        remarks: Sequence[str] = (),
    ) -> ExerciseResult:
        """A result with no points, or with none to give."""
        return ExerciseResult(
            name=self.exercise.name,
            assignment=self.exercise.assignment,
            outcome=outcome,
            score=None if outcome == "could_not_grade" else 0.0,
            points=self.exercise.points,
            title=_(self.exercise.title),
            message=sanitize(message, 600),
            checks=tuple(checks),
            remarks=tuple(remarks),
            seconds=time.monotonic() - self.started,
            content=self.submission.content,
        )

    def _reached(self, checks: Sequence[CheckResult], observations: Mapping[str, Observation]) -> float:
        seen = [(case, observations[case.id]) for case in self.exercise.cases if case.id in observations]
        values_fail = any(c.facet == "values" and c.outcome != "passed" for c in checks)
        trivial = values_fail and is_trivial(seen)
        return score(self.exercise.points, self.exercise.weights, checks, trivial)

    def _remarks(
        self, checks: Sequence[CheckResult], observations: Mapping[str, Observation], used: Sequence[Use]
    ) -> Iterable[str]:
        loaded = [o.parameters["layout"] for o in observations.values() if o.parameters]
        yield from (of_layout(layout, self.hidden) for layout in sorted(set(filter(None, loaded))))
        yield from _measured(self.exercise, checks)
        yield from (of_use(use, self.exercise.forbids_costs) for use in used)

    def _used(self, observations: Iterable[Observation]) -> list[Use]:
        """Calls that the exercise is about: in the text with their place, and those that were only seen to be made."""
        forbids = self.exercise.forbids
        found = uses(self.submission, self.alias, forbids)
        told = {use.call for use in found}
        made = {call for observation in observations for call in observation.used} - told
        return found + [Use(call, "", 0) for call in forbids if call in made]


def _measured(exercise: Exercise, checks: Sequence[CheckResult]) -> list[str]:
    """How well what was trained does, for what passed; a failed check says so itself."""
    measures = {c.id: case.id for case in exercise.cases for c in case.checks if c.judge == "accuracy"}
    fine = [c for c in checks if c.id in measures and c.facet == "values" and c.outcome == "passed"]
    return [f"{measures[c.id]}: {c.message}" for c in fine]

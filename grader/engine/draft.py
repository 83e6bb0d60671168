"""The draft of a result: what a try at an exercise found, as data. `result.py` writes it for a report."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from grader.bundle.model import Exercise
from grader.diagnosis.match import NOTHING, Diagnosed, diagnose
from grader.diagnosis.signature import fingerprint, named_by
from grader.engine.scoring import exact, score, share
from grader.intake.read import Submission
from grader.intake.uses import Use, uses
from grader.judge.compare import is_trivial
from grader.judge.observation import Observation
from grader.judge.pictures import first_picture, measured_picture
from grader.judge.verdict import (
    SKIPPED,
    UNJUDGED,
    JudgedCase,
    JudgedCheck,
    skipping,
    unseen_case,
    without_moot,
)
from grader.report.finding import EXCEPTION, Fact
from grader.report.model import Outcome
from grader.report.picture import Picture
from grader.report.shared_sentences import first_failure
from grader.support.sanitize import sanitize

PRINTED_LINES, PRINTED_COLUMNS = 5, 200  # that a report shows of what an answer printed


@dataclass(frozen=True)
class Draft:
    """What one try at an exercise found. score: None if the grader could not grade.

    message: why it is blocked or could not be graded, or the common cause of its failures. slip: a slip in the text
    that begins the diagnosis. For the other fields see `ExerciseResult`.
    """

    exercise: Exercise
    outcome: Outcome
    score: float | None
    seconds: float
    content: str
    message: Fact | None = None
    checks: tuple[JudgedCheck, ...] = ()
    diagnosed: Diagnosed = NOTHING
    slip: Fact | None = None
    remarks: tuple[Fact, ...] = ()
    picture: Picture | None = None
    printed: str = ""
    partial: bool = False
    fingerprint: str = ""


@dataclass(frozen=True)
class Drafter:
    """Makes the draft of one try at one exercise.

    alias: the name of the exercise in the submission. started: when the try began, by `time.monotonic`.
    quick: costly cases are skipped.
    """

    exercise: Exercise
    submission: Submission
    alias: str
    started: float
    quick: bool = False

    def without_checks(
        self, outcome: Outcome, message: Fact | None = None, remarks: Sequence[Fact] = ()
    ) -> Draft:
        """Return a draft without checks."""
        nothing = None if outcome == "could_not_grade" else 0.0
        seconds = time.monotonic() - self.started
        return Draft(
            self.exercise, outcome, nothing, seconds, self.submission.content, message, remarks=tuple(remarks)
        )

    def unjudged(self, remark: Fact) -> Draft:
        """Return a failed draft with no points.

        Use it if judging this submission raised an exception, and judging a plain file did not.
        """
        first, *others = self.exercise.cases
        judged = [
            unseen_case(first, "failed", UNJUDGED),
            *(unseen_case(case, "skipped", SKIPPED) for case in others),
        ]
        return replace(self.without_checks("failed", remarks=(remark,)), checks=_checks(judged))

    def from_cases(self, cases: Sequence[JudgedCase], remarks: Sequence[Fact]) -> Draft:
        """Return the draft of judged cases. remarks: facts from before any case ran."""
        checks = _checks(cases)
        ungraded = next((c for c in checks if c.counts and c.outcome == "could_not_grade"), None)
        if ungraded is not None:
            why = Fact("ungraded", {"why": ungraded.finding})
            return replace(self.without_checks("could_not_grade", why), checks=checks)
        exercise = self.exercise
        passed = all(check.outcome == "passed" for check in checks if check.counts)
        by_id = {judged.case.id: judged for judged in cases if judged.observation is not None}
        observations = {id: judged.observation for id, judged in by_id.items() if judged.observation}
        used = self._used(observations.values())
        all_passed = all(check.outcome == "passed" for check in checks)  # also those that only give advice
        diagnosed = NOTHING if all_passed else diagnose(exercise, by_id, checks)
        shown, cause = (checks, None) if passed else _shown(exercise, cases, checks, diagnosed)
        observed = (*_layouts(observations.values()), *_measured(exercise, checks))
        of_uses = (_of_use(use, exercise.forbids_costs) for use in used)
        is_unknown = diagnosed.kind == "unknown" and bool(by_id)
        return replace(
            self.without_checks("passed" if passed else "failed", cause),
            score=self._score(passed, checks, observations, used),
            checks=shown,
            diagnosed=diagnosed,
            remarks=(*remarks, *_on_unjudged(shown), *observed, *of_uses),
            fingerprint=fingerprint(named_by(exercise.cases), by_id) if is_unknown else "",
            picture=_drawn(passed, shown, by_id.values()),
            printed=_printed(shown, cases),
            partial=self.quick and any(case.costly for case in exercise.cases),
        )

    def _score(
        self,
        passed: bool,
        checks: Sequence[JudgedCheck],
        observations: Mapping[str, Observation],
        used: Sequence[Use],
    ) -> float:
        exercise = self.exercise
        reached = Fraction(1)
        if not passed:
            counted = [check for check in checks if check.counts]
            seen = [(case, observations[case.id]) for case in exercise.cases if case.id in observations]
            values_fail = any(c.facet == "values" and c.outcome != "passed" for c in counted)
            trivial = values_fail and is_trivial(seen)
            reached = Fraction(0) if trivial else share(exercise.weights, counted)
        return score(exercise.points, reached * (1 - exact(exercise.forbids_costs)) if used else reached)

    def _used(self, observations: Iterable[Observation]) -> list[Use]:
        """Return forbidden calls: those in the text with their line, and those that were only observed."""
        forbids = self.exercise.forbids
        found = uses(self.submission, self.alias, forbids)
        known = {use.call for use in found}
        made = {call for observation in observations for call in observation.used} - known
        return found + [Use(call, "", 0) for call in forbids if call in made]


def _checks(cases: Iterable[JudgedCase]) -> tuple[JudgedCheck, ...]:
    return tuple(check for judged in cases for check in judged.checks)


def _drawn(passed: bool, checks: Sequence[JudgedCheck], cases: Iterable[JudgedCase]) -> Picture | None:
    """Return the picture of the first failure, or of what a right answer measured; None if there is none.

    Values that cannot be drawn must not change an outcome.
    """
    try:
        return measured_picture(cases) if passed else first_picture(checks, cases)
    except Exception:
        return None


def _printed(checks: Sequence[JudgedCheck], cases: Sequence[JudgedCase]) -> str:
    first = first_failure(checks)
    for judged in cases:
        if first is not None and any(check.id == first.id for check in judged.case.checks):
            text = (judged.observation.printed if judged.observation else judged.printed).strip("\n")
            lines = text.splitlines()
            kept = [sanitize(line, PRINTED_COLUMNS) for line in lines[:PRINTED_LINES]]
            return "\n".join([*kept, "…"] if len(lines) > PRINTED_LINES else kept)
    return ""


def _on_unjudged(checks: Iterable[JudgedCheck]) -> list[Fact]:
    """Return a remark on the checks whose judge raised an exception: they failed, and the grader may be at fault."""
    ids = ", ".join(check.id for check in checks if check.finding.rule == UNJUDGED.rule)
    return [Fact("instructor/checks", {"checks": ids})] if ids else []


def _of_use(use: Use, costs: float) -> Fact:
    """Return a remark on a forbidden call. costs: the share of the points that it costs, from 0 to 1."""
    place = {"file": use.unit, "line": use.line} if use.unit else {}
    return Fact("uses", {"call": use.call, "share": costs or None, **place})


def _layouts(observations: Iterable[Observation]) -> list[Fact]:
    loaded = sorted({o.parameters["layout"] for o in observations if o.parameters} - {""})
    return [Fact("layout", {"layout": sanitize(layout, 100)}) for layout in loaded]


def _measured(exercise: Exercise, checks: Sequence[JudgedCheck]) -> list[Fact]:
    """Return the accuracy of a trained model as a remark. A failed check gets none: its message has the accuracy."""
    of = {check.id: case.id for case in exercise.cases for check in case.checks}
    fine = (
        c for c in checks if c.check.judge == "accuracy" and c.facet == "values" and c.outcome == "passed"
    )
    return [Fact("measured", {"case": of[c.id], **c.finding.data}) for c in fine]


# ---- one cause instead of its many effects, if no known mistake was found

# The checks to show instead of the judged ones, and the cause.
Shown = tuple[tuple[JudgedCheck, ...], Fact | None]


def _shown(
    exercise: Exercise, cases: Sequence[JudgedCase], checks: tuple[JudgedCheck, ...], diagnosed: Diagnosed
) -> Shown:
    """Return the checks of a failed answer as the report shows them.

    If no known mistake was found, a common cause comes first, if there is one. Advice about a policy is skipped
    unless a known mistake explains it.
    """
    shown, cause = checks, None
    if not diagnosed.alternatives:
        shown, cause = _one_exception(cases, checks) or _weights(cases, checks) or (checks, None)
    return without_moot(exercise, shown, diagnosed.policies), cause


def _one_exception(judged: Sequence[JudgedCase], checks: tuple[JudgedCheck, ...]) -> Shown | None:
    """If every case raised the same exception, keep the first failed check and skip the other failed checks.

    Cases in which a check gave advice do not count.
    """
    counting = [one for one in judged if not any(check.outcome == "advice" for check in one.checks)]
    errors = [one.observation.error if one.observation else None for one in counting]
    same = {(e.type, e.message, e.where) if e else None for e in errors}
    if len(counting) < 2 or len(same) != 1 or None in same:
        return None
    failed = [check.id for check in checks if check.outcome == "failed"]
    if len(failed) < 2:
        return None
    return skipping(checks, failed[1:], "skipped/same"), Fact("cause/exception")


def _weights(judged: Sequence[JudgedCase], checks: tuple[JudgedCheck, ...]) -> Shown | None:
    """If weights could not be loaded, put the check of the parameters first and skip checks that saw random weights.

    A check that reports an exception keeps its outcome.
    """
    failed = {c.id for c in checks if c.outcome == "failed" and c.finding.kind != EXCEPTION}
    of_weights = {check.id for check in checks if check.check.judge == "parameters"} & failed
    if not of_weights:
        return None
    parameters = [(one, one.observation.parameters) for one in judged if one.observation]
    unmatched = [
        one for one, found in parameters if found and (found.get("missing") or found.get("misshapen"))
    ]
    on_random_weights = {c.id for one in unmatched for c in one.checks if c.facet != "shapes"} & failed
    first = tuple(check for check in checks if check.id in of_weights)
    rest = tuple(check for check in checks if check.id not in of_weights)
    return (*first, *skipping(rest, on_random_weights, "skipped/weights")), Fact("cause/weights")

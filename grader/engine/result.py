"""Make the result of an exercise, from judged cases (points, diagnosis, remarks) or without any."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from grader.bundle.model import Exercise
from grader.diagnosis.match import Diagnosed, diagnose
from grader.diagnosis.signature import fingerprint, named_by
from grader.engine.scoring import exact, score, share
from grader.intake.forbidden_calls import Use, uses
from grader.intake.read import Submission
from grader.judge.advice import advice, without_moot
from grader.judge.failure_picture import first_picture
from grader.judge.finding import earlier_failed
from grader.judge.measured_picture import measured_picture
from grader.judge.observation import Observation
from grader.judge.redact import Evidence
from grader.judge.trivial import is_trivial
from grader.judge.verdict import SKIPPED, JudgedCase, unseen_case
from grader.report.model import NO_DIAGNOSIS, CheckResult, ExerciseResult, Outcome
from grader.report.picture_data import Picture
from grader.report.shared_sentences import first_failure
from grader.support.i18n import _
from grader.support.sanitize import sanitize

PRINTED_LINES, PRINTED_COLUMNS = 5, 200  # that a report shows of what an answer printed


def result_without_checks(
    exercise: Exercise,
    outcome: Outcome,
    message: str,
    *,
    remarks: Sequence[str] = (),
    seconds: float = 0.0,
    content: str = "",
) -> ExerciseResult:
    """Return a result without checks. Its score is None if the grader could not grade, otherwise 0."""
    return ExerciseResult(
        name=exercise.name,
        assignment=exercise.assignment,
        outcome=outcome,
        score=None if outcome == "could_not_grade" else 0.0,
        points=exercise.points,
        title=_(exercise.title),
        message=sanitize(message, 600),
        remarks=tuple(remarks),
        seconds=seconds,
        content=content,
    )


def blocked_by(result: ExerciseResult, other: ExerciseResult) -> ExerciseResult:
    """Return a failed result as *blocked* by another exercise that it needs. It keeps its score."""
    if other.outcome == "not_started":
        says = _("blocked by {other}, which it needs and which is not written yet: write {other} first")
    else:
        says = _("blocked by {other}, which it needs and which does not pass yet: fix {other} first")
    return replace(
        result,
        outcome="blocked",
        message=says.format(other=other.name),
        checks=(),
        diagnosis=NO_DIAGNOSIS,
        fingerprint="",
        fix_first=(other.name,),
    )


@dataclass(frozen=True)
class ResultBuilder:
    """Makes the result of one try at one exercise.

    alias: the name of the exercise in the submission. started: when the try began, by `time.monotonic`.
    quick: costly cases are skipped.
    """

    exercise: Exercise
    submission: Submission
    alias: str
    started: float
    quick: bool = False

    def without_checks(
        self, outcome: Outcome, message: str = "", remarks: Sequence[str] = ()
    ) -> tuple[ExerciseResult, Evidence]:
        """Return a result without checks.

        The evidence calls its texts safe: discard the evidence if they come from a hidden case.
        """
        content, seconds = self.submission.content, time.monotonic() - self.started
        result = result_without_checks(
            self.exercise, outcome, message, remarks=remarks, seconds=seconds, content=content
        )
        return result, self._evidence(safe=(result.message, *remarks))

    def unjudged(self, remark: str) -> tuple[ExerciseResult, Evidence]:
        """Return a failed result with no points.

        Use it if judging this submission raised an exception, and judging a plain file did not.
        """
        cases = self.exercise.cases
        judged = [
            unseen_case(cases[0], "failed", "unjudged", _("the result could not be checked")),
            *(unseen_case(case, "skipped", "skipped", earlier_failed()) for case in cases[1:]),
        ]
        checks = tuple(check for one in judged for check in one.checks)
        codes = {id: code for one in judged for id, code in one.codes.items()}
        bare, _evidence = self.without_checks("failed", remarks=(remark,))
        return replace(bare, checks=checks), self._evidence(codes, safe=(remark,))

    def from_cases(
        self, cases: Sequence[JudgedCase], remarks: Sequence[str]
    ) -> tuple[ExerciseResult, Evidence]:
        """Return the result of judged cases, with what redaction needs to know.

        remarks: sentences from before any case ran.
        """
        checks = [check for judged in cases for check in judged.checks]
        codes = {id: code for judged in cases for id, code in judged.codes.items()}
        ungraded = next((c for c in checks if c.counts and c.outcome == "could_not_grade"), None)
        if ungraded is not None:
            bare, _evidence = self.without_checks("could_not_grade", ungraded.message)
            return replace(bare, checks=tuple(checks)), self._evidence(codes)
        return self._judged(cases, checks, codes, remarks)

    def _judged(
        self,
        cases: Sequence[JudgedCase],
        checks: Sequence[CheckResult],
        codes: dict[str, str],
        remarks: Sequence[str],
    ) -> tuple[ExerciseResult, Evidence]:
        exercise = self.exercise
        bare, _evidence = self.without_checks("failed")
        passed = all(check.outcome == "passed" for check in checks if check.counts)
        by_id = {judged.case.id: judged for judged in cases if judged.observation is not None}
        observations = {id: judged.observation for id, judged in by_id.items() if judged.observation}
        used = self._used(observations.values())
        all_passed = all(check.outcome == "passed" for check in checks)  # also those that only give advice
        diagnosed = Diagnosed() if all_passed else diagnose(exercise, by_id, checks)
        unknown = diagnosed.diagnosis.kind == "unknown"
        shown = Cause(tuple(checks)) if passed else _shown(exercise, cases, checks, diagnosed)
        codes |= shown.codes
        observed = [*_layouts(observations.values()), *_measured(exercise, checks)]
        of_uses = [_of_use(use, exercise.forbids_costs) for use in used]
        remarks = (*remarks, *_on_unjudged(codes))
        result = replace(
            bare,
            outcome="passed" if passed else "failed",
            score=self._score(passed, checks, observations, used),
            message=shown.message,
            checks=shown.checks,
            diagnosis=diagnosed.diagnosis,
            advice=advice(exercise, shown.checks, codes, diagnosed.policies),
            remarks=(*remarks, *(text for _code, text in observed), *of_uses),
            fingerprint=fingerprint(named_by(exercise.cases), by_id) if unknown and by_id else "",
            picture=_drawn(passed, shown.checks, by_id.values()),
            printed=_printed(shown.checks, cases),
            partial=self.quick and any(case.costly for case in exercise.cases),
        )
        observed_codes = tuple(code for code, _text in observed)
        safe = (*remarks, *of_uses, shown.message)
        return result, self._evidence(codes, diagnosed.facts, safe, observed_codes)

    def _evidence(
        self,
        codes: Mapping[str, str] | None = None,
        facts: tuple[str, ...] = (),
        safe: Sequence[str] = (),
        observed: tuple[str, ...] = (),
    ) -> Evidence:
        read = (*self.submission.units, *self.submission.neighbours)
        files = {unit.name: len(unit.source.splitlines()) for unit in read}
        return Evidence(self.exercise, codes or {}, facts, frozenset(safe), observed, files)

    def _score(
        self,
        passed: bool,
        checks: Sequence[CheckResult],
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


def _shown(
    exercise: Exercise, cases: Sequence[JudgedCase], all_checks: Sequence[CheckResult], diagnosed: Diagnosed
) -> Cause:
    """Return the checks of a failed answer as the report shows them.

    If no known mistake was found, a common cause comes first, if there is one. Advice about a policy is skipped
    unless a known mistake explains it.
    """
    shown = Cause(tuple(all_checks))
    if not diagnosed.diagnosis.alternatives:
        shown = _one_exception(cases, shown.checks) or _weights(cases, shown.checks) or shown
    checks = tuple(without_moot(exercise, shown.checks, diagnosed.policies))
    moot = {new.id: "skipped-failed" for new, old in zip(checks, shown.checks, strict=True) if new is not old}
    return replace(shown, checks=checks, codes=shown.codes | moot)


def _drawn(passed: bool, checks: Sequence[CheckResult], cases: Iterable[JudgedCase]) -> Picture | None:
    """Return the picture of the first failure, or of what a right answer measured; None if there is none.

    Values that cannot be drawn must not change an outcome.
    """
    try:
        return measured_picture(cases) if passed else first_picture(checks, cases)
    except Exception:
        return None


def _printed(checks: Sequence[CheckResult], cases: Sequence[JudgedCase]) -> str:
    first = first_failure(checks)
    for judged in cases:
        if first is not None and any(check.id == first.id for check in judged.case.checks):
            text = (judged.observation.printed if judged.observation else judged.printed).strip("\n")
            lines = text.splitlines()
            kept = [sanitize(line, PRINTED_COLUMNS) for line in lines[:PRINTED_LINES]]
            return "\n".join([*kept, "…"] if len(lines) > PRINTED_LINES else kept)
    return ""


def _on_unjudged(codes: Mapping[str, str]) -> list[str]:
    """Return a remark on the checks whose judge raised an exception: they failed, and the grader may be at fault."""
    checks = ", ".join(id for id, code in codes.items() if code == "unjudged")
    if not checks:
        return []
    says = _(
        "for the instructor: the grader raised an exception while it judged {checks}; look at this submission"
    )
    return [says.format(checks=checks)]


def _of_use(use: Use, costs: float) -> str:
    """Return a remark on a forbidden call. costs: the share of the points that it costs, from 0 to 1."""
    place = _("{file}, line {line}").format(file=sanitize(use.unit), line=use.line) if use.unit else ""
    place = f" ({place})" if place else ""
    if costs:
        says = _("uses {call}{place}, which you are asked to implement yourself (−{share:.0%} of the points)")
        return says.format(call=use.call, place=place, share=costs)
    says = _("uses {call}{place}, which you are asked to implement yourself")
    return says.format(call=use.call, place=place)


def _layouts(observations: Iterable[Observation]) -> list[tuple[str, str]]:
    says = _("parameters were matched by shape, not by name (layout: {layout})")
    loaded = sorted({o.parameters["layout"] for o in observations if o.parameters} - {""})
    return [("layout", says.format(layout=sanitize(_(layout), 100))) for layout in loaded]


def _measured(exercise: Exercise, checks: Sequence[CheckResult]) -> list[tuple[str, str]]:
    """Return the accuracy of a trained model as a remark, with its code. A failed check gets no remark: its message
    has the accuracy.
    """
    measures = {c.id: case.id for case in exercise.cases for c in case.checks if c.judge == "accuracy"}
    fine = [c for c in checks if c.id in measures and c.facet == "values" and c.outcome == "passed"]
    return [(f"measured {measures[c.id]}", f"{measures[c.id]}: {c.message}") for c in fine]


# ---- one cause instead of its many effects, if no known mistake was found


RANDOM = "skipped-weights"  # the code of a check that was skipped because it saw values of random weights


@dataclass(frozen=True)
class Cause:
    """The checks to show instead of the judged ones.

    message: a sentence about the cause; "" without one.
    codes: check id → the new code of a check that became skipped.
    """

    checks: tuple[CheckResult, ...]
    message: str = ""
    codes: dict[str, str] = field(default_factory=dict)


def _one_exception(judged: Sequence[JudgedCase], checks: tuple[CheckResult, ...]) -> Cause | None:
    """If every case raised the same exception, keep the first failed check and skip the other failed checks.

    Cases in which a check gave advice do not count.
    """
    counting = [one for one in judged if not any(check.outcome == "advice" for check in one.checks)]
    errors = [one.observation.error if one.observation else None for one in counting]
    same = {(e.type, e.message, e.where) if e else None for e in errors}
    if len(counting) < 2 or len(same) != 1 or None in same:
        return None
    failed = [check for check in checks if check.outcome == "failed"]
    if len(failed) < 2:
        return None
    return Cause(
        _skipping(checks, {check.id for check in failed[1:]}, _("skipped: the same exception")),
        _("every call raises the same exception: fix it first"),
        {check.id: SKIPPED for check in failed[1:]},
    )


def _weights(judged: Sequence[JudgedCase], checks: tuple[CheckResult, ...]) -> Cause | None:
    """If weights could not be loaded, put the check of the parameters first and skip checks that saw random weights.

    A code that begins with "!" is that of an exception: its check keeps its outcome.
    """
    about_parameters = {
        check.id
        for one in judged
        for check in one.case.checks
        if check.judge == "parameters" and not one.codes.get(check.id, "").startswith("!")
    }
    of_weights = {check.id for check in checks if check.outcome == "failed" and check.id in about_parameters}
    if not of_weights:
        return None
    parameters = [(one, one.observation.parameters) for one in judged if one.observation]
    unmatched = [
        one for one, found in parameters if found and (found.get("missing") or found.get("misshapen"))
    ]
    of_values = ((one, check) for one in unmatched for check in one.checks if check.facet != "shapes")
    on_random_weights = {
        check.id
        for one, check in of_values
        if check.outcome == "failed" and not one.codes[check.id].startswith("!")
    } - of_weights
    first = tuple(check for check in checks if check.id in of_weights)
    rest = tuple(check for check in checks if check.id not in of_weights)
    why = _("skipped: the weights of the case could not be loaded")
    return Cause(
        (*first, *_skipping(rest, on_random_weights, why)),
        _("the weights of the cases could not be loaded, because the parameters have other names or shapes"),
        dict.fromkeys(on_random_weights, RANDOM),
    )


def _skipping(checks: Sequence[CheckResult], ids: set[str], why: str) -> tuple[CheckResult, ...]:
    return tuple(
        replace(c, outcome="skipped", message=why, expected="", got="", where="") if c.id in ids else c
        for c in checks
    )

"""The result of an exercise as a report has it: written from a draft, blocked by another exercise, or without checks."""

from __future__ import annotations

from dataclasses import replace

from grader.bundle.model import Exercise
from grader.engine.draft import Draft
from grader.judge.advice import advice, says_and_asks
from grader.judge.verdict import JudgedCheck
from grader.report.finding import Fact
from grader.report.model import NO_DIAGNOSIS, CheckResult, Diagnosis, ExerciseResult, Outcome
from grader.report.writer import PUBLIC, Writer
from grader.support.i18n import _
from grader.support.sanitize import sanitize


def result_without_checks(
    exercise: Exercise, outcome: Outcome, message: str, place: tuple[str, int] = ("", 0)
) -> ExerciseResult:
    """Return a result without checks. Its score is None if the grader could not grade, otherwise 0.

    place: the file and the line that the message names.
    """
    says = Fact("text", {"sentence": message, "file": place[0], "line": place[1]})
    score = None if outcome == "could_not_grade" else 0.0
    return written(Draft(exercise, outcome, score, 0.0, "", says), PUBLIC)


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


def written(draft: Draft, writer: Writer) -> ExerciseResult:
    """Return what a try found as the writer's report may say it. A report on hidden cases has no picture, no prints and
    no values.
    """
    exercise, known = draft.exercise, draft.diagnosed
    file, line = writer.line(draft.message)
    return ExerciseResult(
        name=exercise.name,
        assignment=exercise.assignment,
        outcome=draft.outcome,
        score=draft.score,
        points=exercise.points,
        title=_(exercise.title),
        message=sanitize(writer.sentence(draft.message), 600),
        file=file,
        line=line,
        checks=tuple(_check(one, writer) for one in draft.checks),
        diagnosis=_diagnosis(draft, writer),
        advice=advice(exercise, draft.checks, known.policies, writer),
        remarks=tuple(sanitize(says, 400) for says in map(writer.sentence, draft.remarks) if says),
        seconds=draft.seconds,
        content=draft.content,
        picture=None if writer.hidden else draft.picture,
        printed="" if writer.hidden else draft.printed,
        partial=draft.partial,
        fingerprint=draft.fingerprint,
    )


def _check(one: JudgedCheck, writer: Writer) -> CheckResult:
    check, finding = one.check, one.finding
    file, line = writer.line(finding)
    return CheckResult(
        id=check.id,
        facet=check.facet,
        title=_(check.title),
        outcome=one.outcome,
        device=one.device,
        dtype=one.dtype,
        visibility="hidden" if writer.hidden else "public",
        message=writer.message(finding),
        expected=None if writer.hidden else sanitize(finding.expected),
        got=None if writer.hidden else sanitize(finding.got),
        where=writer.where(finding),
        policy=check.policy,
        rule=writer.rule(finding),
        file=file,
        line=line,
    )


def _diagnosis(draft: Draft, writer: Writer) -> Diagnosis:
    known = draft.diagnosed
    if known.alternatives:
        mistakes = {mistake.id: mistake for mistake in draft.exercise.mistakes}
        first = [mistakes[id] for id in known.alternatives[0]]
        return Diagnosis(known.kind, known.alternatives, *says_and_asks(first))
    facts = filter(None, map(writer.sentence, known.facts))
    says = " ".join(f"{says[:1].upper()}{says[1:]}." for says in facts)
    file, line = writer.line(draft.slip)
    says = "; ".join(filter(None, (sanitize(writer.sentence(draft.slip), 400), says)))
    return Diagnosis(known.kind, says=says, file=file, line=line)

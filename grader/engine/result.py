"""The result of an exercise as a report has it: written from a draft, blocked by another exercise, or without checks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from grader.bundle.model import FACTS, Exercise
from grader.diagnosis.match import Diagnosed
from grader.engine.draft import Draft
from grader.engine.grading import Grading
from grader.engine.student_file import StudentFile
from grader.intake.names import Definition
from grader.intake.read import Submission
from grader.intake.slips import slips
from grader.judge.verdict import JudgedCheck, advice, says_and_asks
from grader.report.finding import EXCEPTION, PUBLIC, STOPPED, Fact, Writer, line_of
from grader.report.model import NO_DIAGNOSIS, CheckResult, Code, Diagnosis, ExerciseResult, Outcome
from grader.support.i18n import _
from grader.support.sanitize import sanitize

WITH_CODE = ("failed", "blocked", "other_interface")  # outcomes whose report names slips and shows code
AROUND = 4  # lines before and after a named line, if there is no definition
MOST_LINES = 120
_FORWARD = re.compile(r"\s+(async )?def forward\(")


def result_without_checks(
    exercise: Exercise, outcome: Outcome, message: str, place: tuple[str, int] = ("", 0)
) -> ExerciseResult:
    """Return a result without checks. Its score is None if the grader could not grade, otherwise 0.

    place: the file and the line that the message names.
    """
    says = Fact("text", {"sentence": message, "file": place[0], "line": place[1]})
    return written(Draft(outcome, says), exercise, PUBLIC)


def blocked_by(result: ExerciseResult, other: ExerciseResult) -> ExerciseResult:
    """Return a failed result as *blocked* by another exercise that it needs. It keeps its score."""
    variant = "wrong" if other.outcome != "not_started" else "unwritten"
    why = Fact(f"blocked-by/{variant}", {"other": other.name})
    return replace(
        result,
        outcome="blocked",
        message=PUBLIC.sentence(why),
        checks=(),
        diagnosis=NO_DIAGNOSIS,
        fingerprint="",
        fix_first=(other.name,),
    )


def written(draft: Draft, exercise: Exercise, writer: Writer) -> ExerciseResult:
    """Return what a try found as the writer's report may say it. A report on hidden cases has no picture, no prints and
    no values.
    """
    known = draft.diagnosed
    file, line = writer.line(draft.message)
    return ExerciseResult(
        name=exercise.name,
        assignment=exercise.assignment,
        outcome=draft.outcome,
        score=None if draft.outcome == "could_not_grade" else draft.score,
        points=exercise.points if draft.points is None else draft.points,
        second=exercise.second,
        title=_(exercise.title),
        message=sanitize(writer.sentence(draft.message), 600),
        file=file,
        line=line,
        checks=tuple(_check(one, writer) for one in draft.checks),
        diagnosis=_diagnosis(draft, exercise, writer),
        advice=advice(exercise, draft.checks, known.policies, writer),
        remarks=tuple(sanitize(says, 400) for says in map(writer.sentence, draft.remarks) if says),
        picture=None if writer.hidden else draft.draw(),
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


def _diagnosis(draft: Draft, exercise: Exercise, writer: Writer) -> Diagnosis:
    known = draft.diagnosed
    if known.alternatives:
        mistakes = {mistake.id: mistake for mistake in exercise.mistakes}
        first = [mistakes[id] for id in known.alternatives[0]]
        return Diagnosis(known.kind, known.alternatives, *says_and_asks(first))
    facts = filter(None, map(writer.sentence, known.facts))
    says = " ".join(f"{says[:1].upper()}{says[1:]}." for says in facts)
    file, line = writer.line(draft.slip)
    says = "; ".join(filter(None, (sanitize(writer.sentence(draft.slip), 400), says)))
    return Diagnosis(known.kind, says=says, file=file, line=line)


def finished(
    grading: Grading, file: StudentFile, exercise: Exercise, draft: Draft, seconds: float = 0.0
) -> ExerciseResult:
    """Return the result of an attempt as a report may show it, with slips and code. seconds: that it took."""
    submission, terms = file.submission, grading.context.options.terms
    read = (*submission.units, *submission.neighbours)
    writer = Writer(terms.redacts, {unit.name: len(unit.source.splitlines()) for unit in read})
    # At level 0, a report names no mistake and no line. A slip may be a mistake: that of the broken class to repair.
    says_where = exercise.level > FACTS and draft.outcome in WITH_CODE
    if says_where:
        draft = with_slips(draft, submission, file.alias(exercise))
    shown = None if writer.hidden or not says_where else code(draft, submission, file.definition(exercise))
    result = written(draft, exercise, writer)
    return replace(result, code=shown, content=submission.content, seconds=seconds)


def with_slips(draft: Draft, submission: Submission, name: str) -> Draft:
    """Return the draft with the slips in the definition `name` (see intake/slips.py) as its first remarks.

    The first slip begins the diagnosis instead if it wins, or if no known mistake was found and a check reports an
    exception, a timeout, a result of another type or parameters that do not fit.
    """
    found = slips(submission, name)
    kinds = {one.finding.kind if one.finding.rule != STOPPED else STOPPED for one in draft.checks}
    is_cause = not draft.diagnosed.alternatives and kinds & {EXCEPTION, STOPPED, "odd", "parameters"}
    first = next((slip for slip in found if draft.outcome == "failed" and (slip.wins or is_cause)), None)
    remarks = {
        slip: Fact("slip", {"file": slip.unit, "line": slip.line, "slip": slip.says}) for slip in found
    }
    begins = remarks.pop(first) if first else None
    draft = replace(draft, slip=begins or draft.slip, remarks=(*remarks.values(), *draft.remarks))
    return replace(draft, diagnosed=Diagnosed("unknown")) if begins else draft


def code(draft: Draft, submission: Submission, definition: Definition | None) -> Code | None:
    """Return the lines of a definition; without one, the lines around the first place that the draft names.

    Return None if there is neither. The first line of a definition is not marked, because every exception of a call
    can be traced to it.
    """
    named = list(_named_lines(draft, submission))
    if definition is not None:
        first, last, file = definition.line, definition.end, definition.unit
        named = [place for place in named if place != (file, first)]
    elif named:
        file, line = named[0]
        first, last = max(1, line - AROUND), line + AROUND
    else:
        return None
    source = next(unit.source for unit in submission.units if unit.name == file)
    lines = source.splitlines()[first - 1 : min(last, first + MOST_LINES - 1)]
    marked = {line for unit, line in named if unit == file and first <= line < first + len(lines)}
    shown = tuple(sanitize(line, 300) for line in lines)
    return Code(sanitize(file), first, shown, tuple(sorted(marked)), _entry(definition, lines))


def _entry(definition: Definition | None, lines: Sequence[str]) -> tuple[str, int]:
    """Return the name and line of the definition, or of a class's `forward` if `lines` have it; ("", 0) for None."""
    if definition is None:
        return "", 0
    found = (n for n, line in enumerate(lines) if definition.kind == "class" and _FORWARD.match(line))
    at = next(found, None)
    return (sanitize(definition.name) if at is None else "forward"), definition.line + (at or 0)


def _named_lines(draft: Draft, submission: Submission) -> Iterator[tuple[str, int]]:
    facts = [draft.message, *(check.finding for check in draft.checks)]
    if not draft.diagnosed.alternatives:
        # With a known mistake, the lines of these may not contain it.
        facts += [draft.slip, *draft.remarks]
    files = {unit.name for unit in submission.units}
    for place in map(line_of, facts):
        if place is not None and place.file in files:
            yield place.file, place.line

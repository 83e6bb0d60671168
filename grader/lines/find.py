"""Find the lines that a report of a failed exercise may name. It shows only the place of an edit and its kind in words."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from grader.bundle.model import FACTS, NAME, Exercise
from grader.engine.attempt import attempt
from grader.engine.engine import Engine
from grader.engine.grading import Context, Grading
from grader.engine.student_file import Part, StudentFile, student_file
from grader.intake.read import Submission, Unit
from grader.lines.places import Place, places
from grader.lines.rules import AXES, CALL, CONSTANT, KINDS, OPERATION, ORDER, RESULT, VALUES
from grader.lines.search import Budget, Candidate, Search, ordered, runnable
from grader.lines.statement_words import Words
from grader.lines.suspects import Statement, agreement, likeness, prior, ranked
from grader.report.model import Certainty, ExerciseResult, Line, Report
from grader.support.i18n import _
from grader.support.sanitize import sanitize

DOUBTFUL = 0.05  # agreement of a certified line with a named mistake, below which the line is not shown
MAX_CERTIFICATIONS = 3
WALL_SECONDS = 2.0  # that a command waits for lines


@dataclass
class Found:
    """The result of a search.

    repairs: the candidates that passed every case of the search. certified: the certified repair, if it has something
    in common with the named mistake. suspects: the places and lines of the statements most likely to be wrong.
    seconds: CPU seconds in all.
    """

    repairs: list[Candidate] = field(default_factory=list)
    certified: Candidate | None = None
    suspects: list[tuple[Place, int]] = field(default_factory=list)
    seconds: float = 0.0


def add_lines(
    engine: Engine, report: Report, sources: Mapping[str, Source], seconds: float = WALL_SECONDS
) -> Report:
    """Return the report with lines to look at, searched for this many seconds of the clock in total.

    sources: exercise → what it was graded from. Exercises with a known mistake are searched first.
    """
    until = time.monotonic() + seconds
    found = {result.name: result for result in report.exercises}
    for result in sorted(report.exercises, key=lambda e: not e.diagnosis.alternatives):
        left = until - time.monotonic()
        if result.name in sources and left > 0:
            budget = Budget(wall=left)
            found[result.name] = with_lines(engine, sources[result.name], result, budget)
    return replace(report, exercises=tuple(found.values()))


def with_lines(engine: Engine, source: Source, result: ExerciseResult, budget: Budget) -> ExerciseResult:
    """Return the result with the lines to look at; unchanged if it may have no lines, or if none are found.

    The search is an extra: whatever goes wrong in it changes nothing about the result.
    """
    if not may_have_lines(engine, result):
        return result
    try:
        found = search(engine, source, result, budget)
        # Beside a known mistake, the kind of the change would give the answer.
        detail = not result.diagnosis.alternatives and engine.exercises[result.name].level > NAME
        lines = point(found.certified, found.suspects, detail)
    except Exception:
        engine.close()
        return result
    return replace(result, diagnosis=replace(result.diagnosis, lines=lines))


def may_have_lines(engine: Engine, result: ExerciseResult) -> bool:
    """Whether lines may be searched: the exercise failed on public cases, and its level allows more than facts."""
    exercise = engine.exercises[result.name]
    return result.outcome == "failed" and engine.options.terms.searches_lines and exercise.level > FACTS


def search(engine: Engine, source: Source, result: ExerciseResult, budget: Budget) -> Found:
    """Search edits of the statements that a failed exercise uses. The engine's worker is closed after the search."""
    exercise, submission = engine.exercises[result.name], source.submission
    grading, file = Grading(engine.context), student_file(engine.context.course, submission, source.parts)
    # The names that the student gave to this exercise and to the others.
    alias = file.aliases.get(exercise.name, exercise.name)
    others = {bound for name, bound in file.aliases.items() if name != exercise.name}
    searched = places(submission, file.names, alias, others)
    # The words of each known mistake that may explain the answer.
    names = {name for names in result.diagnosis.alternatives for name in names}
    named: list[Words] = [frozenset(known.statements) for known in exercise.mistakes if known.id in names]
    # The lines that the report names, such as the line of an exception.
    marked = {(result.code.file, line) for line in result.code.marked} if result.code else set()
    scores = prior(searched, named, marked)
    until = time.monotonic() + budget.wall_left / 2  # the other half is left to try them
    made = (Candidate(place, edit) for place in searched for edit in place.edits(until))
    candidates = ordered(made, scores)
    # The id of a check begins with the id of its case.
    failing = frozenset(check.id.split("/")[0] for check in result.checks if check.outcome == "failed")
    cases = runnable(exercise)
    place_of = {(place.unit, line): place for place in searched for line in place.statements}

    def suspects(ran: Collection[Statement], *evidence: Any) -> list[tuple[Place, int]]:
        """Return the likeliest statements, without definitions and statements in functions that did not run.

        ran: the lines that ran; empty if they are not known. evidence: the other arguments of `ranked`, such as what
        the edits of each statement did.
        """
        excluded = {(place.unit, line) for place in searched for line in place.definitions}
        if ran:
            excluded |= {(place.unit, line) for place in searched for line in place.without(ran)}
        likely = [statement for statement in ranked(scores, *evidence) if statement not in excluded]
        return [(place_of[statement], statement[1]) for statement in likely[:MAX_LINES]]

    # If the search may not run one of the failing cases, there are only suspects.
    if not candidates or not failing <= {case.id for case in cases}:
        return Found(suspects=suspects((), {}, 0.0, ()))  # nothing ran
    found = Found()
    trial = Search(engine.context.workers, grading.request(file, exercise, result.replaced), budget)
    found.repairs = trial.run(candidates, cases, failing)
    engine.close()  # edits may have changed what the worker holds: it grades nothing after a search
    alike = likeness(searched, named)
    agreeing = [one for one in found.repairs if agreement(alike, one.statement, one.neighbours) >= DOUBTFUL]
    # If some repairs are similar to the named mistake, only these count: the others may only imitate them.
    left = agreeing or list(found.repairs)
    for _round in range(MAX_CERTIFICATIONS):
        repair = first_agreed(left)  # None if distant statements can be repaired
        if not repair or not trial.may_certify():
            break
        if passes_with(engine.context, file, exercise, result, repair):
            found.certified = repair if repair in agreeing else None
            break
        left.remove(repair)  # it fails in a fresh worker or on a costly case, or breaks a policy
    found.suspects = suspects(
        trial.ran, trial.effects, trial.at_first, {repair.statement for repair in found.repairs}
    )
    found.seconds = budget.spent
    return found


@dataclass(frozen=True)
class Source:
    """The submission that an exercise was graded from, and the parts of earlier assignments that it used."""

    submission: Submission
    parts: tuple[Part, ...] = ()


def passes_with(
    context: Context, file: StudentFile, exercise: Exercise, result: ExerciseResult, candidate: Candidate
) -> bool:
    """Whether the file with the edit passes the exercise, and gets no new kind of advice.

    file: the file as it was submitted. result: its result. The building blocks that replaced parts of the submitted
    file replace them again.
    """
    place = candidate.place
    source = place.text.changed(candidate.edit.pieces)
    units = tuple(Unit(u.name, source) if u.name == place.unit else u for u in file.submission.units)
    changed = replace(file.submission, units=units)
    edited = student_file(context.course, changed, file.parts)
    again = attempt(Grading(context), edited, exercise, result.replaced)
    before = {advice.policy for advice in result.advice}
    return again.outcome == "passed" and {advice.policy for advice in again.advice} <= before


# ---- the lines of a report


MAX_LINES = 3
MAX_TEXT = 200


def point(
    certified: Candidate | None, suspects: Sequence[tuple[Place, int]], detail: bool
) -> tuple[Line, ...]:
    """Return the lines to look at: the certified one, then suspected ones, the likeliest first.

    detail: whether the certified line also has the kind of the change, and the end of the changed part.
    """
    lines: dict[tuple[str, int], Line] = {}
    if certified is not None:
        change = kind_of_change(certified.edit.kind) if detail else ""
        start, stop = certified.edit.at
        part = (start, stop if detail else start)
        line = _line(certified.place, certified.place.text.line(start), change, part)
        # The line is stored under its own number and its statement's: then `setdefault` adds neither as a suspect.
        lines = {(line.file, number): line for number in (line.line, certified.edit.statement)}
    for place, number in suspects:
        lines.setdefault((sanitize(place.unit), number), _line(place, number))
    return tuple(dict.fromkeys(lines.values()))[:MAX_LINES]


def first_agreed(repairs: Sequence[Candidate]) -> Candidate | None:
    """Return the first repair if all repairs are in its statement or in one beside it; else None.

    If edits of distant statements each repair the answer, none of these statements can be certified. An
    edit that puts something in can have the effect of another edit elsewhere, so it counts only if no other edit
    repairs.
    """
    kept = [one for one in repairs if not one.edit.inserts]
    # Storing a result under another name may imitate an edit of the line that reads it: such edits come last.
    kept.sort(key=_stores_elsewhere)
    kept = kept or list(repairs)
    # One line that may be put in at several places is one repair: the place that was tried first is the likeliest.
    for other in [one for one in kept[1:] if not _same_new_line(one, kept[0])]:
        if other.place is not kept[0].place:
            return None
        first, second = (one.place.touched(one.edit) for one in (kept[0], other))
        if min(abs(i - j) for i in first for j in second) > 1:
            return None
    return kept[0] if kept else None


def _same_new_line(one: Candidate, other: Candidate) -> bool:
    """Whether two edits put the same line in, and change nothing else."""
    lines = []
    for edit in (one.edit, other.edit):
        start, stop, new = edit.pieces[0]
        if len(edit.pieces) > 1 or start != stop or "\n" not in new:
            return False
        lines.append(new.strip())
    return lines[0] == lines[1]


def _stores_elsewhere(one: Candidate) -> bool:
    """Whether an edit stores a result in another name, or in the tensor that it is computed from, as `relu_` does."""
    in_place = one.edit.kind == "function" and one.edit.pieces[0][2].endswith("_")
    return in_place or one.edit.kind == "target"


def _line(place: Place, number: int, change: str = "", part: tuple[int, int] | None = None) -> Line:
    """Return a line of the report. part: the bytes that an edit changes; None if the line is only suspected."""
    text = place.text
    first = text.line_start(number)
    raw = text.raw[first:].split(b"\n")[0].decode("utf-8", "replace")
    code = raw.lstrip()
    skipped = len(raw) - len(code)
    code = code.rstrip()[:MAX_TEXT]
    start, stop = part or (first, first)
    columns = [len(text.raw[first:at].decode("utf-8", "replace")) - skipped for at in (start, stop)]
    begin, end = (max(min(column, len(code)), 0) for column in columns)
    certainty: Certainty = "suspected" if part is None else "repaired"
    return Line(sanitize(place.unit), number, sanitize(code), certainty, change, (begin, end))


def kind_of_change(kind: str) -> str:
    """Return what edits of a kind change, in words that fit many edits; "" if the kind alone gives the edit away."""
    return {
        CONSTANT: _("a constant"),
        VALUES: _("the values that it uses"),
        OPERATION: _("an operation"),
        RESULT: _("what is stored or returned"),
        CALL: _("a call"),
        AXES: _("the order of the axes"),
        ORDER: _("the order of the statements"),
    }.get(KINDS[kind][1], "")

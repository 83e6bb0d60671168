"""Find the lines that a report of a failed exercise may name. It shows only the place of an edit and its kind in words."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from grader.bundle.model import FACTS, NAME, Exercise
from grader.engine.attempt import attempt
from grader.engine.engine import Engine
from grader.engine.grading import Context, Grading
from grader.engine.student_file import Part, StudentFile, student_file
from grader.intake.read import Submission, Unit
from grader.lines.places import Edit, Place, Span, Statement, places
from grader.lines.rules import CHANGES, edits, ordered
from grader.lines.search import Budget, Search, runnable
from grader.lines.statement_words import statements
from grader.lines.suspects import likeness, prior, ranked
from grader.report.model import Certainty, ExerciseResult, Line, Report
from grader.support.sanitize import sanitize

LITTLE = 0.05  # of the largest likeness to a named mistake
MAX_CERTIFICATIONS = 3
MAX_LINES = 3  # of a report
MAX_TEXT = 200  # characters of a line
WALL_SECONDS = 2.0  # that a command waits for lines


@dataclass(frozen=True)
class Source:
    """The submission that an exercise was graded from, and the parts of earlier assignments that it used."""

    submission: Submission
    parts: tuple[Part, ...] = ()


@dataclass
class Found:
    """The result of a search.

    repairs: the edits that passed every case of the search. certified: the certified repair. suspects: the statements
    most likely to be wrong. seconds: CPU seconds in all.
    """

    places: Sequence[Place]
    repairs: Sequence[Edit] = ()
    certified: Edit | None = None
    suspects: Sequence[Statement] = ()
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
        lines = point(found, detail)
    except Exception:
        engine.close()
        return result
    return replace(result, diagnosis=replace(result.diagnosis, lines=lines))


def may_have_lines(engine: Engine, result: ExerciseResult) -> bool:
    """Whether lines may be searched: the code failed on public cases, and the level of the exercise allows more than facts."""
    exercise = engine.exercises[result.name]
    of_code = {check.id for case in exercise.cases if not case.takes_weights for check in case.checks}
    fails = any(check.outcome == "failed" and check.id in of_code for check in result.checks)
    return fails and engine.options.terms.searches_lines and exercise.level > FACTS


def search(engine: Engine, source: Source, result: ExerciseResult, budget: Budget) -> Found:
    """Search edits of the statements that a failed exercise uses. The engine's worker is closed after the search."""
    exercise = engine.exercises[result.name]
    grading = Grading(engine.context)
    file = student_file(engine.context.course, source.submission, source.parts)
    if engine.schools and file.interface(exercise).differs:
        return Found([])  # edits are tried in the course's interface only
    # The names that the student gave to this exercise and to the others.
    alias = file.aliases.get(exercise.name, exercise.name)
    others = {bound for name, bound in file.aliases.items() if name != exercise.name}
    searched = places(source.submission, file.names, alias, others)
    names = {name for names in result.diagnosis.alternatives for name in names}
    known = [words for one in exercise.mistakes if one.id in names for words in statements(one.statements)]
    alike = likeness(searched, known)
    # The lines that the report names, such as the line of an exception.
    marked = {(result.code.file, line) for line in result.code.marked} if result.code else set()
    failed = [check for check in result.checks if check.outcome == "failed"]
    scores = prior(searched, alike, marked)
    until = time.monotonic() + budget.wall_left / 2  # the other half is left to try them
    made = ordered((edit for place in searched for edit in edits(place, until)), scores)
    # The id of a check begins with the id of its case.
    failing = frozenset(check.id.split("/")[0] for check in failed)
    cases = runnable(exercise)
    found = Found(searched)
    trial = Search(engine.context.workers, grading.request(file, exercise, result.replaced), budget)
    # If the search may not run one of the failing cases, there are only suspects.
    if made and failing and failing <= {case.id for case in cases}:
        found.repairs = trial.run(made, cases, failing)
        engine.close()  # edits may have changed what the worker holds: it grades nothing after a search
        passes = partial(passes_with, engine.context, file, exercise, result)
        # A repair that has little in common with the named mistake may only imitate the others; alone it contradicts it.
        little = LITTLE * max(alike.values(), default=0.0)
        agreeing = [one for one in found.repairs if one.inserts or alike.get(one.statement, 0.0) >= little]
        repair = _certified(trial, agreeing or found.repairs, passes)
        found.certified = repair if repair in agreeing else None
    repaired = [repair.statement for repair in found.repairs]
    found.suspects = ranked(scores, trial.effects, repaired)[:MAX_LINES]
    found.seconds = budget.spent
    return found


def _certified(trial: Search, repairs: Sequence[Edit], passes: Callable[[Edit], bool]) -> Edit | None:
    """Return the first of the repairs with which the file passes in a fresh worker; None if they do not agree."""
    left = list(repairs)
    for _round in range(MAX_CERTIFICATIONS):
        repair = first_agreed(left)
        if repair is None or not trial.may_certify():
            break
        if passes(repair):
            return repair
        left.remove(repair)  # it fails in a fresh worker or on a costly case, or breaks a policy
    return None


def passes_with(
    context: Context, file: StudentFile, exercise: Exercise, result: ExerciseResult, edit: Edit
) -> bool:
    """Whether the file with the edit passes the exercise, and gets no new kind of advice.

    file: the file as it was submitted. result: its result. The building blocks that replaced parts of the submitted
    file replace them again.
    """
    units = tuple(
        Unit(u.name, edit.source) if u.name == edit.place.unit else u for u in file.submission.units
    )
    edited = student_file(context.course, replace(file.submission, units=units), file.parts)
    again = attempt(Grading(context), edited, exercise, result.replaced)
    before = {advice.policy for advice in result.advice}
    return again.outcome == "passed" and {advice.policy for advice in again.advice} <= before


# ---- the lines of a report


def point(found: Found, detail: bool) -> tuple[Line, ...]:
    """Return the lines to look at: the certified one, then suspected ones, the likeliest first.

    detail: whether the certified line also has the kind of the change, and the end of the changed part.
    """
    lines: dict[Statement, Line] = {}
    if found.certified is not None:
        edit = found.certified
        start, stop = edit.at
        number = edit.place.text.line(start)
        change = CHANGES.get(edit.kind, "") if detail else ""
        part = (start, stop if detail else start)
        line = _line(edit.place, number, change, part)
        # It is stored under its own number and its statement's: then `setdefault` adds neither as a suspect.
        lines = dict.fromkeys(((edit.place.unit, number), edit.statement), line)
    place_of = {(place.unit, line): place for place in found.places for line in place.statements}
    for statement in found.suspects:
        lines.setdefault(statement, _line(place_of[statement], statement[1]))
    return tuple(dict.fromkeys(lines.values()))[:MAX_LINES]


def first_agreed(repairs: Sequence[Edit]) -> Edit | None:
    """Return the first repair if all repairs are in its statement or in one beside it; else None.

    If edits of distant statements each repair the answer, none of these statements can be certified. An
    edit that puts something in can have the effect of another edit elsewhere, so it counts only if no other edit
    repairs.
    """
    kept = [one for one in repairs if not one.inserts] or repairs
    if not kept:
        return None
    first, *others = kept
    for other in others:
        if other.place is not first.place:
            return None
        if min(abs(i - j) for i in first.touched for j in other.touched) > 1:
            return None
    return first


def _line(place: Place, number: int, change: str = "", part: Span | None = None) -> Line:
    """Return a line of the report. part: what an edit changes; None if the line is only suspected."""
    text = place.text
    first = text.line_start(number)
    raw = text.raw[first:].split(b"\n")[0].decode("utf-8", "replace")
    code = raw.strip()[:MAX_TEXT]
    skipped = len(raw) - len(raw.lstrip())
    columns = [len(text.raw[first:at].decode("utf-8", "replace")) - skipped for at in part or (first, first)]
    begin, end = (max(min(column, len(code)), 0) for column in columns)
    certainty: Certainty = "suspected" if part is None else "repaired"
    return Line(sanitize(place.unit), number, sanitize(code), certainty, change, (begin, end))

"""One try at an exercise: read the text, load the file, run and judge the cases. It makes a draft.

An attempt to load the file and run the cases is repeated in a new worker, once for each of two reasons:
- It does not pass in a worker in which the submission was loaded for another exercise before.
- It loses its worker for a reason that may be chance. If that happens again and the worker reports a fault (an
  unexpected exception), a plain file decides whose fault it is.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader.bundle.model import Exercise
from grader.engine.draft import Draft, Drafter
from grader.engine.interface import Interface
from grader.engine.judged_cases import judged_cases
from grader.engine.lease import (
    MAY_BE_CHANCE,
    CannotLoad,
    Lease,
    Loaded,
    fault_of_the_grader,
    how_loading_ended,
)
from grader.engine.load_request import LoadRequest
from grader.engine.missing_modules import blamed, missing_names, needs_gpu, of_missing
from grader.engine.session import WorkerGone
from grader.engine.student_parts import parts_remark
from grader.engine.submission_run import SubmissionRun
from grader.intake.around_syntax_error import Fault
from grader.intake.names import Definition, Names, without_code
from grader.intake.read import Submission
from grader.intake.recognise import lost, misspelt
from grader.judge.observation import StudentError, student_error, texts
from grader.judge.verdict import JudgedCase
from grader.report.finding import Fact
from grader.sandbox.base import SandboxError
from grader.support.sanitize import sanitize


def one_try(run: SubmissionRun, exercise: Exercise, replaced: Sequence[str]) -> Draft:
    """Grade an exercise with reference blocks instead of `replaced`."""
    builder = drafter(run, exercise)
    fits = run.interface(exercise)
    remarks = [*_renamed(run, exercise), *fits.remarks]
    if early := _from_text(run, builder, fits, remarks):
        return early
    try:
        found = attempt(run, exercise, replaced)
    except CannotLoad as why:
        notes = own_notes(run.history.notes, run.submission)
        defining = (note for note in notes if builder.alias in texts(note.get("defines")))
        errors = list(filter(None, (student_error(note.get("error")) for note in defining)))
        instead = _for_missing_code(run, builder, errors, remarks)
        return instead or builder.without_checks("blocked", why.fact, remarks)
    except SandboxError as error:
        return builder.without_checks("could_not_grade", Fact("text", {"sentence": str(error)}))
    remarks += _on_loading(run, found.request, found.loaded)
    draft = builder.from_cases(found.cases, remarks)
    return _instead_of(run, draft, builder, found.cases, remarks) or draft


@dataclass(frozen=True)
class Attempt:
    """The judged cases of an exercise, and what its worker said when it loaded the file."""

    request: LoadRequest
    loaded: Loaded
    cases: tuple[JudgedCase, ...]


def attempt(run: SubmissionRun, exercise: Exercise, replaced: Sequence[str]) -> Attempt:
    """Load a submission and judge an exercise, with reference blocks instead of `replaced`.

    Raises CannotLoad if the file cannot be loaded, and SandboxError if the grader is at fault.
    """
    workers, forgiving = run.context.workers, True
    while True:
        lease = workers.lease(run.request(exercise, replaced))
        found = _attempt(run, lease, replaced, forgiving)
        if found is not None:
            return found
        workers.close()
        forgiving = lease.used


def _attempt(run: SubmissionRun, lease: Lease, replaced: Sequence[str], forgiving: bool) -> Attempt | None:
    """Load the submission and judge the cases; None if this must be repeated in a new worker.

    forgiving: whether a loss that may be chance is a reason to repeat it.
    """
    workers, request = run.context.workers, lease.request
    try:
        loaded = lease.load()
        if not lease.used:
            run.history.notes = loaded.notes
        bound = defined_name(request, loaded, run.names)
    except WorkerGone as gone:
        run.history.lost += 1
        if lease.used or (forgiving and gone.why in MAY_BE_CHANCE):
            return None
        if gone.why == "fault" and (fault := fault_of_the_grader(workers, request.exercise)):
            raise SandboxError(fault) from None
        raise CannotLoad(how_loading_ended(gone)) from None
    except CannotLoad:
        if lease.used:
            return None
        raise
    if bound != run.aliases.get(request.exercise.name):
        run.aliases[request.exercise.name] = bound
        request = run.request(request.exercise, replaced)
    cases = judged_cases(run, request, forgiving)
    return None if cases is None else Attempt(request, loaded, tuple(cases))


def drafter(run: SubmissionRun, exercise: Exercise) -> Drafter:
    """Return what makes the draft of a try that starts now."""
    quick = run.context.options.quick
    return Drafter(exercise, run.submission, run.alias(exercise), time.monotonic(), quick)


def _renamed(run: SubmissionRun, exercise: Exercise) -> list[Fact]:
    found, definition = run.alias(exercise), run.definition(exercise)
    if found == exercise.name:
        return []
    place = {"file": definition.unit, "line": definition.line} if definition else {}
    return [Fact("renamed", {"found": found, "name": exercise.name, **place})]


def _from_text(
    run: SubmissionRun, builder: Drafter, fits: Interface, remarks: Sequence[Fact]
) -> Draft | None:
    """Return the draft if the text alone decides it: not started, or another interface.

    None if the cases must run.
    """
    if run.is_untouched(builder.exercise):
        return builder.without_checks("not_started")
    if empty := without_code(run.submission, run.names, builder.alias):
        return builder.without_checks("not_started", Fact("no-code", {"name": empty}))
    if fits.other:
        return builder.without_checks("other_interface", fits.other, remarks)
    return None


def _on_loading(run: SubmissionRun, request: LoadRequest, loaded: Loaded) -> list[Fact]:
    exercise = request.exercise
    remarks = load_remarks(run.history.notes, run.needs(exercise), request.visible_blocks)
    if exercise.is_made_of_parts:
        known = [name for name in exercise.given if name in run.context.exercises]
        remarks.append(parts_remark(loaded.own, known))
    if run.context.options.quick and any(case.costly for case in exercise.cases):
        remarks.append(Fact("quick"))
    return remarks


def _instead_of(
    run: SubmissionRun,
    draft: Draft,
    builder: Drafter,
    judged: Sequence[JudgedCase],
    remarks: Sequence[Fact],
) -> Draft | None:
    """Return the draft that replaces a failure; None if the failure stays.

    It is replaced if a missing module or package caused an exception, also if other checks pass, if the code gets
    no points because it needs a GPU, and if the constructor does not take sizes that the class needs. For code not
    written for the course, it is also replaced if no known mistake was
    found and `forward` has a mask where the course passes lengths.
    """
    if draft.outcome != "failed":
        return None
    failing = [j for j in judged if any(check.outcome == "failed" for check in j.checks)]
    errors = [j.observation.error for j in failing if j.observation and j.observation.error]
    if instead := _for_missing_code(run, builder, errors, remarks, no_points=not draft.score):
        return instead
    if sizes := run.interface(builder.exercise).without_sizes:
        return builder.without_checks("other_interface", sizes, _renamed(run, builder.exercise))
    masks = run.takes_mask(builder.exercise) if run.context.options.foreign else None
    if masks and not draft.diagnosed.alternatives:
        return builder.without_checks("other_interface", masks, _renamed(run, builder.exercise))
    return None


def _for_missing_code(
    run: SubmissionRun,
    builder: Drafter,
    errors: Sequence[StudentError],
    remarks: Sequence[Fact],
    no_points: bool = True,
) -> Draft | None:
    """Return a draft if the code lacks a module, a package or a GPU; None if its exceptions say something else.

    See docs/decisions/21.
    """
    options, notes = run.context.options, run.history.notes
    if options.foreign and no_points and options.device == "cpu" and needs_gpu(errors, notes):
        return builder.without_checks("could_not_grade", Fact("no-gpu"), remarks)
    missing = missing_names(notes, (*run.submission.units, *run.submission.neighbours))
    causes = (blamed(error, missing, run.names.definitions) for error in errors)
    cause = next(filter(None, causes), None)
    if cause is None:
        return None
    if options.hidden:
        # Code that has seen a hidden case can choose which name it lacks. The text alone decides which one is shown.
        alike = {name: one for name, one in missing.items() if one.block == cause.block}
        needed = run.needs(builder.exercise) & alike.keys()
        cause = next(one for name, one in alike.items() if name in needed or not needed)
    return builder.without_checks("could_not_grade", of_missing(cause), remarks)


MAX_REMARKS = 5  # of one exercise, on what was skipped or replaced while the file was loaded


def defined_name(request: LoadRequest, loaded: Loaded, names: Names) -> str:
    """Return the name under which the loaded file defines the exercise.

    Raises CannotLoad with the reason if it does not. names: the definitions in the submission's text.
    """
    wanted = request.exercise.name
    alias = request.aliases.get(wanted)
    for name in (alias, wanted):
        if name is not None and name in loaded.names:
            return name
    _raise_note(loaded, alias or wanted, names, request.submission)
    fault = lost(wanted, names)
    if fault is not None:
        raise CannotLoad(Fact("unreadable", {"name": wanted, **_fault(fault)}))
    if names.faults:
        raise CannotLoad(Fact("unreadable/file", _fault(names.faults[0])))
    definition = names.definitions.get(alias or wanted)
    if definition is not None:
        raise CannotLoad(Fact("nested", {"name": definition.name, **_place(definition)}))
    similar = names.definitions.get(misspelt(wanted, names.definitions))
    if similar is not None:
        raise CannotLoad(Fact("misspelt", {"similar": similar.name, "name": wanted, **_place(similar)}))
    raise CannotLoad(Fact("undefined", {"name": wanted, "file": request.submission.path.name}))


def _fault(fault: Fault) -> dict[str, object]:
    return {"file": fault.unit, "line": fault.line, "why": fault.with_code}


def _place(definition: Definition) -> dict[str, object]:
    return {"file": definition.unit, "line": definition.line}


def _raise_note(loaded: Loaded, name: str, names: Names, submission: Submission) -> None:
    definition = names.definitions.get(name)
    for note in own_notes(loaded.notes, submission):
        error = student_error(note.get("error"))
        defines = note.get("defines")
        about_name = isinstance(defines, list) and name in defines
        if error is not None and (about_name or note.get("whole")):  # "whole": no statement of the unit ran
            raise CannotLoad(Fact("note", _of_note(note, error)))
        place = (note.get("file"), note.get("line"))
        if note.get("endless") and definition is not None and place == (definition.unit, definition.line):
            raise CannotLoad(Fact("endless", _place(definition)))


def own_notes(notes: Iterable[Mapping[str, Any]], submission: Submission) -> list[Mapping[str, Any]]:
    """Return the notes on a submission's own code: a file beside it may define the same names."""
    own = {unit.name for unit in submission.units}
    return [note for note in notes if note.get("file") in own]


def _of_note(note: Mapping[str, object], error: StudentError) -> dict[str, object]:
    """Return what "masking.py, line 3: NameError: name 'torhc' is not defined" says, as data."""
    file, line = error.where[:2] if error.where is not None else (note.get("file"), note.get("line"))
    return {"file": file, "line": line, "type": error.type, "message": error.message}


def load_remarks(
    notes: Iterable[Mapping[str, Any]], needed: frozenset[str], visible: Collection[str]
) -> list[Fact]:
    """Return remarks on statements that the worker skipped and on blocks that it took from the course.

    Only names that the exercise needs are mentioned. visible: the building blocks that the exercise may use.
    """
    out: list[Fact] = []
    for note in notes:
        block = note.get("block")
        error = student_error(note.get("error"))
        if isinstance(block, str) and block in needed and block in visible:
            module = sanitize(str(note.get("module")).lstrip("."), 100)
            out.append(Fact("given", {"module": module, "block": sanitize(block, 100)}))
        elif error is not None and not needed.isdisjoint(texts(note.get("defines"))):
            out.append(Fact("left-out", _of_note(note, error)))
    return [fact for at, fact in enumerate(out) if fact not in out[:at]][:MAX_REMARKS]

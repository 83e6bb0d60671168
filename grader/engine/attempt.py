"""Attempt an exercise: read the text, load the file, run and judge the cases, write the result.

An attempt is repeated in a new worker, once for each of two reasons:
- It does not pass in a worker that had loaded the submission for another exercise before.
- It is lost: its worker ends for a reason that may be chance, or the grader raises an exception. The submission may
  cause both, and that must not excuse it. So if it is lost again, a plain file decides whose fault that is.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from grader.bundle.model import Exercise
from grader.engine.draft import Draft, Drafter
from grader.engine.grading import Context, Grading
from grader.engine.judged_cases import judged_cases, repeats
from grader.engine.lease import Lease, Loaded
from grader.engine.load_notes import (
    blamed,
    defined_name,
    how_loading_ended,
    load_remarks,
    missing_names,
    needs_gpu,
    of_missing,
    own_notes,
    parts_remark,
)
from grader.engine.result import finished
from grader.engine.session import WorkerGone
from grader.engine.student_file import StudentFile, student_file
from grader.engine.visibility import visible_blocks
from grader.intake.names import without_code
from grader.intake.read import Submission, Unit
from grader.judge.observation import StudentError, student_error, texts
from grader.judge.verdict import JudgedCase
from grader.report.finding import PUBLIC, Fact, Writer
from grader.report.model import ExerciseResult, Outcome
from grader.sandbox.base import SandboxError
from grader.support.i18n import _


def attempt(
    grading: Grading, file: StudentFile, exercise: Exercise, replaced: Sequence[str] = ()
) -> ExerciseResult:
    """Return the result of an exercise, with reference blocks instead of `replaced`."""
    workers, forgiving = grading.context.workers, True
    while True:
        try:
            draft = _draft(grading, file, exercise, replaced, forgiving)
            if draft is not None:
                return _written(grading, file, draft)
        except SandboxError as error:
            draft = drafter(grading, file, exercise).without_checks(
                "could_not_grade", Fact("text", {"sentence": str(error)})
            )
            return _written(grading, file, draft)
        except Exception as error:
            if not forgiving:
                return after_exception(grading, file, exercise, error)
        forgiving = workers.used
        workers.close()


def after_exception(
    grading: Grading, file: StudentFile, exercise: Exercise, error: Exception
) -> ExerciseResult:
    """Return a result that *failed* if a plain file can be graded; otherwise one that *could not be graded*."""
    # The type, file and line of the exception. A submission can choose none of them.
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    raised = {"error": type(error).__name__ + place}
    builder = drafter(grading, file, exercise)
    if fault_of_the_grader(grading.context, exercise):
        draft = builder.without_checks("could_not_grade", Fact("grader-failed", raised))
    else:
        draft = builder.unjudged(Fact("instructor/file", raised))
    return _written(grading, file, draft)


def fault_of_the_grader(context: Context, exercise: Exercise) -> str:
    """Grade a plain file. Return why the grader cannot; "" if it can: then the submission is at fault that it failed.

    A fault that a worker with student code reports proves nothing: failing code could report one, to lose no
    points. Only the message of the plain file's worker is quoted.
    """
    context.workers.close()
    try:
        draft = _draft(
            Grading(context), student_file(context.course, plain_file(exercise)), exercise, (), False
        )
    except Exception as error:
        return str(error) or type(error).__name__
    finally:
        context.workers.close()
    return PUBLIC.sentence(draft.message) if draft and draft.outcome == "could_not_grade" else ""


def plain_file(exercise: Exercise) -> Submission:
    """Return a file that defines an exercise and does nothing."""
    source = f"def {exercise.name}(*args, **kwargs):\n    raise ValueError\n"
    return Submission(Path("plain.py"), (Unit("plain.py", source),))


def _fault(grading: Grading, file: StudentFile, exercise: Exercise, gone: WorkerGone) -> str:
    """Return a sentence if the grader is at fault that a worker was lost; "" if the submission is."""
    if file.submission.units == plain_file(exercise).units:
        return _("the worker failed: {what}").format(what=gone.detail or gone.why)
    return fault_of_the_grader(grading.context, exercise) if gone.why == "fault" else ""


def _written(grading: Grading, file: StudentFile, draft: Draft) -> ExerciseResult:
    read = (*file.submission.units, *file.submission.neighbours)
    files = {unit.name: len(unit.source.splitlines()) for unit in read}
    writer = Writer(grading.context.options.terms.redacts, files)
    return finished(
        draft, file.submission, file.alias(draft.exercise), file.definition(draft.exercise), writer
    )


def _draft(
    grading: Grading, file: StudentFile, exercise: Exercise, replaced: Sequence[str], forgiving: bool
) -> Draft | None:
    """Attempt the exercise; None if this is to be repeated in a new worker.

    forgiving: whether a loss that may be chance is a reason to repeat it. Raises SandboxError.
    """
    builder = drafter(grading, file, exercise)
    remarks = [*_renamed(file, exercise), *file.interface(exercise).remarks]
    if early := _from_text(file, builder, remarks):
        return early
    lease = grading.context.workers.lease(grading.request(file, exercise, replaced))
    fault_of = partial(_fault, grading, file, exercise)
    found = _load(grading, file, lease, forgiving, fault_of)
    if found is None:
        return None
    if isinstance(found, Fact):
        return builder.without_checks(*_blocked(grading, file, builder, found), remarks)
    request = grading.request(file, exercise, replaced)  # the worker may have found another name
    cases = judged_cases(grading, request, forgiving, fault_of)
    if cases is None:
        return None
    remarks += _on_loading(grading, file, exercise, found)
    draft = builder.from_cases(cases, remarks)
    instead = _instead_of(grading, file, draft, cases, remarks)
    return builder.without_checks(*instead) if instead else draft


def _load(
    grading: Grading, file: StudentFile, lease: Lease, forgiving: bool, fault_of: Callable[[WorkerGone], str]
) -> Loaded | Fact | None:
    """Load the file. Return why it is blocked if that fails; None if the attempt is to be repeated.

    Raises SandboxError if the grader is at fault.
    """
    try:
        loaded = lease.load()
    except WorkerGone as gone:
        grading.lost += 1
        if repeats(lease, forgiving, gone):
            return None
        if fault := fault_of(gone):
            raise SandboxError(fault) from None
        return how_loading_ended(gone)
    if not lease.used:
        grading.notes[file] = loaded.notes
    name = lease.request.exercise.name
    bound = defined_name(lease.request, loaded, file.names)
    if isinstance(bound, Fact):
        return None if lease.used else bound
    if bound != grading.aliases(file).get(name):
        grading.bound.setdefault(file, {})[name] = bound
    return loaded


def drafter(grading: Grading, file: StudentFile, exercise: Exercise) -> Drafter:
    """Return what makes the draft of a try that starts now."""
    quick = grading.context.options.quick
    return Drafter(exercise, file.submission, file.alias(exercise), time.monotonic(), quick)


def _renamed(file: StudentFile, exercise: Exercise) -> list[Fact]:
    found, definition = file.alias(exercise), file.definition(exercise)
    if found == exercise.name:
        return []
    place = {"file": definition.unit, "line": definition.line} if definition else {}
    return [Fact("renamed", {"found": found, "name": exercise.name, **place})]


def _from_text(file: StudentFile, builder: Drafter, remarks: Sequence[Fact]) -> Draft | None:
    """Return the draft if the text alone decides it: not started, or another interface.

    None if the cases must run.
    """
    if file.is_untouched(builder.exercise):
        return builder.without_checks("not_started")
    if empty := without_code(file.names, builder.alias):
        return builder.without_checks("not_started", Fact("no-code", {"name": empty}))
    if other := file.interface(builder.exercise).other:
        return builder.without_checks("other_interface", other, remarks)
    return None


def _blocked(grading: Grading, file: StudentFile, builder: Drafter, why: Fact) -> tuple[Outcome, Fact]:
    """Return the outcome of a file that does not define the exercise, and why; if code is missing, that is the reason."""
    notes = own_notes(grading.notes.get(file, ()), file.submission)
    defining = (note for note in notes if builder.alias in texts(note.get("defines")))
    errors = list(filter(None, (student_error(note.get("error")) for note in defining)))
    missing = _missing_code(grading, file, builder.exercise, errors)
    return ("could_not_grade", missing) if missing else ("blocked", why)


def _on_loading(grading: Grading, file: StudentFile, exercise: Exercise, loaded: Loaded) -> list[Fact]:
    remarks = load_remarks(grading.notes.get(file, ()), file.needs(exercise), visible_blocks(exercise))
    if exercise.is_made_of_parts:
        known = [name for name in exercise.given if name in file.course.exercises]
        remarks.append(parts_remark(loaded.own, known))
    if grading.context.options.quick and any(case.costly for case in exercise.cases):
        remarks.append(Fact("quick"))
    return remarks


def _instead_of(
    grading: Grading, file: StudentFile, draft: Draft, judged: Sequence[JudgedCase], remarks: Sequence[Fact]
) -> tuple[Outcome, Fact, Sequence[Fact]] | None:
    """Return the outcome that replaces a failure, why, and with which remarks; None if the failure stays.

    It is replaced if a missing module or package caused an exception, also if other checks pass, if the code gets
    no points because it needs a GPU, and if the constructor does not take sizes that the class needs. For code not
    written for the course, it is also replaced if no known mistake was
    found and `forward` has a mask where the course passes lengths.
    """
    if draft.outcome != "failed":
        return None
    exercise = draft.exercise
    failing = [j for j in judged if any(check.outcome == "failed" for check in j.checks)]
    errors = [j.observation.error for j in failing if j.observation and j.observation.error]
    if missing := _missing_code(grading, file, exercise, errors, no_points=not draft.score):
        return "could_not_grade", missing, remarks
    other = file.interface(exercise).without_sizes
    if not other and not draft.diagnosed.alternatives and grading.context.options.terms.may_take_masks:
        other = file.takes_mask(exercise)
    return ("other_interface", other, _renamed(file, exercise)) if other else None


def _missing_code(
    grading: Grading,
    file: StudentFile,
    exercise: Exercise,
    errors: Sequence[StudentError],
    no_points: bool = True,
) -> Fact | None:
    """Return which module, package or GPU the code lacks; None if its exceptions say something else.

    See docs/decisions/21.
    """
    options, notes = grading.context.options, grading.notes.get(file, ())
    if options.terms.may_lack_gpu and no_points and options.device == "cpu" and needs_gpu(errors, notes):
        return Fact("no-gpu")
    missing = missing_names(notes, (*file.submission.units, *file.submission.neighbours))
    causes = (blamed(error, missing, file.names.definitions) for error in errors)
    cause = next(filter(None, causes), None)
    if cause is None:
        return None
    if not options.terms.believes_exceptions:
        # Code that has seen a hidden case can choose which name it lacks. The text alone decides which one is shown.
        alike = {name: one for name, one in missing.items() if one.block == cause.block}
        needed = file.needs(exercise) & alike.keys()
        cause = next(one for name, one in alike.items() if name in needed or not needed)
    return of_missing(cause)

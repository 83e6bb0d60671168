"""Attempt an exercise: read the text, load the file, run and judge the cases, write the result.

An attempt is repeated in a new worker for one of four reasons:
- It does not pass in a worker that had loaded the submission for another exercise before.
- A top-level statement times out: the next attempt loads the file without it.
- The cases are lost when they run together, which saves time: in the next attempt they run one by one.
- It is lost: its worker ends for a reason that may be chance, or the grader raises an exception. The submission may
  cause both, and that must not excuse it. If its worker ends twice, the case fails; if the grader raises twice, or a
  worker reports a fault twice, a plain file decides whose fault that is.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.bundle.model import Exercise
from grader.engine.draft import Draft, draft_of, unjudged
from grader.engine.grading import Context, Grading
from grader.engine.judged_cases import judged_cases, repeats
from grader.engine.lease import Loaded
from grader.engine.load_notes import (
    Notes,
    blamed,
    defined_name,
    how_loading_ended,
    lacking_gpu,
    load_remarks,
    missing_names,
    of_missing,
    own_notes,
    parts_remark,
)
from grader.engine.load_request import visible_blocks
from grader.engine.result import finished
from grader.engine.schools import TRAINED, form_of, in_form, small_layers, takes_dropout
from grader.engine.session import WorkerGone
from grader.engine.student_file import StudentFile, student_file
from grader.intake.names import without_code
from grader.intake.read import Submission, Unit
from grader.judge.observation import StudentError
from grader.judge.verdict import JudgedCase
from grader.report.finding import PUBLIC, Fact
from grader.report.model import ExerciseResult
from grader.sandbox.base import SandboxError
from grader.support.i18n import _

# Known mistakes that are right for (T, B, D), as PyTorch's tutorial writes it.
STEPS_FIRST = frozenset({"pos-by-batch"})
NOT_LOADED = ("missing", "unexpected", "misshapen")  # in how the weights of a case were loaded


def attempt(
    grading: Grading, file: StudentFile, exercise: Exercise, replaced: Sequence[str] = ()
) -> ExerciseResult:
    """Return the result of an exercise, with reference blocks instead of `replaced`."""
    workers, started, forgiving = grading.context.workers, time.monotonic(), True
    while True:
        reasons = grading.reasons
        try:
            draft = Attempt(grading, file, exercise, replaced, forgiving).draft()
            if draft is not None:
                return finished(grading, file, exercise, draft, time.monotonic() - started)
        except SandboxError as error:  # perhaps the server of the workers has died: a new one is started once
            if not forgiving:
                failed = Draft("could_not_grade", Fact("text", {"sentence": str(error)}))
                return finished(grading, file, exercise, failed, time.monotonic() - started)
        except Exception as error:
            if not forgiving:
                return after_exception(grading, file, exercise, error)
        forgiving = forgiving and (workers.used or grading.reasons > reasons)
        workers.close()


def after_exception(
    grading: Grading, file: StudentFile, exercise: Exercise, error: Exception
) -> ExerciseResult:
    """Return a result that *failed* if a plain file can be graded; otherwise one that *could not be graded*."""
    # The type, file and line of the exception. A submission can choose none of them.
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    raised = {"error": type(error).__name__ + place}
    if fault_of_the_grader(grading.context, exercise):
        draft = Draft("could_not_grade", Fact("grader-failed", raised))
    else:
        draft = unjudged(exercise, Fact("instructor/file", raised))
    return finished(grading, file, exercise, draft)


def fault_of_the_grader(context: Context, exercise: Exercise) -> str:
    """Grade a plain file. Return why the grader cannot; "" if it can: then the submission is at fault that it failed.

    A fault that a worker with student code reports proves nothing: failing code could report one, to lose no
    points. Only the message of the plain file's worker is quoted.
    """
    context.workers.close()
    try:
        plain = student_file(context.course, plain_file(exercise))
        grading = Grading(context, apart={(plain.content, exercise.name)})
        draft = Attempt(grading, plain, exercise, forgiving=False).draft()
    except Exception as error:
        return str(error) or type(error).__name__
    finally:
        context.workers.close()
    return PUBLIC.sentence(draft.message) if draft and draft.outcome == "could_not_grade" else ""


def plain_file(exercise: Exercise) -> Submission:
    """Return a file that defines an exercise and does nothing."""
    source = f"def {exercise.name}(*args, **kwargs):\n    raise ValueError\n"
    return Submission(Path("plain.py"), (Unit("plain.py", source),))


@dataclass(frozen=True)
class Attempt:
    """One attempt at an exercise of a file, with reference blocks instead of `replaced`.

    forgiving: whether a loss that may be chance is a reason to repeat it.
    """

    grading: Grading
    file: StudentFile
    exercise: Exercise
    replaced: Sequence[str] = ()
    forgiving: bool = True

    def draft(self) -> Draft | None:
        """Return what the attempt found; None if it is to be repeated in a new worker. Raises SandboxError.

        A class with another interface is graded in the form of its school, if it has one and the terms allow it.
        """
        draft = self._in_course_s_form()
        if draft is None or draft.outcome != "other_interface" or not self.file.schools:
            return draft
        steps_first = draft.message is not None and draft.message.rule == "interface/steps-first"
        return draft if steps_first else self._in_form_of_a_school(draft)

    def _in_form_of_a_school(self, other: Draft) -> Draft | None:
        """Return the draft of a class that is graded in the form of its school; `other` if no form fits it.

        It does not fit if the class cannot be built so, or if it lacks weights of the cases.
        """
        file, course = self.file, self.file.course
        found = form_of(self.exercise, file.alias(self.exercise), file.names)
        loaded = self._load() if found else other.message
        if found is None or not isinstance(loaded, Loaded):
            return other if loaded else None
        school, form = found
        if school.is_causal and self.grading.context.options.terms.counts:
            return other
        exercise = in_form(self.exercise, course.exercises, school, form)
        request = self.grading.request(file, exercise, self.replaced)
        aliases = {**request.aliases, school.cases: file.alias(exercise)}
        request = replace(request, aliases=aliases, renamed={}, called={}, form=form)
        cases = judged_cases(self.grading, request, self.forgiving, self._fault)
        if cases is None:
            return None
        seen = [one.observation for one in cases if one.observation]
        lacks = [o for o in seen if o.parameters and any(o.parameters[what] for what in NOT_LOADED)]
        errors = [o.error for o in seen if o.error]
        if missing := self._missing_code(errors):
            return Draft("could_not_grade", missing, self._renamed())
        if lacks and (small := small_layers(file.alias(exercise), exercise, lacks[0].parameters)):
            return replace(other, message=small)
        if lacks or all(o.error and o.error.step == "build" for o in seen):
            return other
        untrained = not takes_dropout(form) and school.says in TRAINED
        remarks = (
            Fact(f"school/{school.says}", {"school": school.title}),
            *([Fact("school/untrained")] if untrained else []),
            *self._renamed(),
            *self._on_loading(loaded),
        )
        draft = draft_of(file, exercise, cases, remarks)
        return replace(draft, points=exercise.points)

    def _in_course_s_form(self) -> Draft | None:
        remarks = (*self._renamed(), *self.file.interface(self.exercise).remarks)
        if early := self._from_text(remarks):
            return early
        found = self._load()
        if found is None:
            return None
        if isinstance(found, Fact):
            return self._blocked(found, remarks)
        # The worker may have found another name.
        request = self.grading.request(self.file, self.exercise, self.replaced)
        cases = judged_cases(self.grading, request, self.forgiving, self._fault)
        if cases is None:
            return None
        remarks += self._on_loading(found)
        draft = draft_of(self.file, self.exercise, cases, remarks)
        smaller = next((fact for fact in remarks if fact.rule == "smaller-default"), None)
        if draft.outcome == "failed" and smaller and not draft.diagnosed.alternatives:
            draft = replace(draft, slip=smaller, remarks=tuple(fact for fact in remarks if fact != smaller))
        return self._instead_of(draft, cases, remarks) or draft

    def _renamed(self) -> tuple[Fact, ...]:
        found, definition = self.file.alias(self.exercise), self.file.definition(self.exercise)
        if found == self.exercise.name:
            return ()
        place = {"file": definition.unit, "line": definition.line} if definition else {}
        return (Fact("renamed", {"found": found, "name": self.exercise.name, **place}),)

    def _from_text(self, remarks: tuple[Fact, ...]) -> Draft | None:
        """Return the draft if the text alone decides it: not started, or another interface; None if the cases must run."""
        file, exercise = self.file, self.exercise
        if file.is_untouched(exercise):
            return Draft("not_started")
        if empty := without_code(file.names, file.alias(exercise)):
            return Draft("not_started", Fact("no-code", {"name": empty}))
        if other := file.interface(exercise).other:
            return Draft("other_interface", other, remarks)
        return None

    def _load(self) -> Loaded | Fact | None:
        """Load the file. Return why it is blocked if that fails; None if the attempt is to be repeated.

        Raises SandboxError if the grader is at fault.
        """
        grading, name = self.grading, self.exercise.name
        request = grading.request(self.file, self.exercise, self.replaced)
        lease = grading.context.workers.lease(request)
        try:
            loaded = lease.load()
        except WorkerGone as gone:
            if repeats(grading, lease, self.forgiving, gone):
                return None
            if fault := self._fault(gone):
                raise SandboxError(fault) from None
            return how_loading_ended(gone)
        if not lease.used:
            grading.notes[self.file] = loaded.notes
        bound = defined_name(request, loaded, self.file.names)
        if isinstance(bound, Fact):
            return None if lease.used else bound
        if bound != grading.aliases(self.file).get(name):
            grading.bound.setdefault(self.file, {})[name] = bound
        return loaded

    def _fault(self, gone: WorkerGone) -> str:
        """Return a sentence if the grader is at fault that a worker was lost; "" if the submission is."""
        if self.file.submission.units == plain_file(self.exercise).units:
            return _("the worker failed: {what}").format(what=gone.detail or gone.why)
        return fault_of_the_grader(self.grading.context, self.exercise) if gone.why == "fault" else ""

    @property
    def _notes(self) -> Notes:
        return self.grading.notes.get(self.file, ())

    def _blocked(self, why: Fact, remarks: tuple[Fact, ...]) -> Draft:
        """Return the draft of a file that does not define the exercise; if code is missing, that is the reason."""
        notes = own_notes(self._notes, self.file.submission)
        defining = (note for note in notes if self.file.alias(self.exercise) in note.defines)
        missing = self._missing_code([note.error for note in defining if note.error])
        return Draft("could_not_grade", missing, remarks) if missing else Draft("blocked", why, remarks)

    def _on_loading(self, loaded: Loaded) -> tuple[Fact, ...]:
        exercise = self.exercise
        needed = self.file.needs(exercise) if self._notes else frozenset[str]()
        remarks = load_remarks(self._notes, needed, visible_blocks(exercise))
        if exercise.is_made_of_parts:
            known = [name for name in exercise.given if name in self.file.course.exercises]
            remarks.append(parts_remark(loaded.own, known))
        if self.grading.context.options.quick and any(case.costly for case in exercise.cases):
            remarks.append(Fact("quick"))
        return tuple(remarks)

    def _instead_of(
        self, draft: Draft, judged: Sequence[JudgedCase], remarks: tuple[Fact, ...]
    ) -> Draft | None:
        """Return the draft that replaces a failure; None if the failure stays.

        It is replaced if a missing module or package caused an exception, also if other checks pass, if the code gets
        no points because it needs a GPU, and if the constructor does not take sizes that the class needs. For code not
        written for the course, it is also replaced if the class takes the steps first, and if no known mistake was found
        and `forward` has a mask where the course passes lengths.
        """
        if draft.outcome != "failed":
            return None
        failing = [j for j in judged if any(check.outcome == "failed" for check in j.checks)]
        errors = [j.observation.error for j in failing if j.observation and j.observation.error]
        if missing := self._missing_code(errors, no_points=not draft.score):
            return Draft("could_not_grade", missing, remarks)
        interface = self.file.interface(self.exercise)
        other = interface.without_sizes
        if self.file.schools and {id for ids in draft.diagnosed.alternatives for id in ids} & STEPS_FIRST:
            other = Fact("interface/steps-first", {"name": self.file.alias(self.exercise)})
        if not other and not draft.diagnosed.alternatives and self.file.schools:
            other = interface.for_other_inputs
        return Draft("other_interface", other, self._renamed()) if other else None

    def _missing_code(self, errors: Sequence[StudentError], no_points: bool = True) -> Fact | None:
        """Return which module, package or GPU the code lacks; None if its exceptions say something else.

        See docs/decisions/21.
        """
        options, file = self.grading.context.options, self.file
        may_lack_gpu = options.terms.may_lack_gpu and no_points and options.device == "cpu"
        if may_lack_gpu and (lacking := lacking_gpu(errors, self._notes)):
            return lacking
        missing = missing_names(self._notes, (*file.submission.units, *file.submission.neighbours))
        causes = (blamed(error, missing, file.names.definitions) for error in errors)
        cause = next(filter(None, causes), None)
        if cause is None:
            return None
        if not options.terms.believes_exceptions:
            # Code that has seen a hidden case can choose which name it lacks. The text alone decides which one is shown.
            alike = {name: one for name, one in missing.items() if one.block == cause.block}
            needed = file.needs(self.exercise) & alike.keys()
            cause = next(one for name, one in alike.items() if name in needed or not needed)
        return of_missing(cause)

"""Grade one exercise once, also if the submission makes the grader raise an exception.

Only this module calls `redact` for results of hidden cases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grader.bundle.model import Exercise
from grader.engine.code_excerpt import code
from grader.engine.one_try import one_try, result_builder
from grader.engine.plain_file import plain_file, raised_at
from grader.engine.slip_remarks import with_slips
from grader.engine.submission_run import SubmissionRun
from grader.intake.names import read_names
from grader.judge.redact import Evidence, redact
from grader.report.model import ExerciseResult
from grader.support.i18n import _


def grade_once(run: SubmissionRun, exercise: Exercise, replaced: Sequence[str] = ()) -> ExerciseResult:
    """Grade one exercise once, with reference blocks instead of `replaced`.

    The submission may cause an exception of the grader; that must not excuse it. After an exception the exercise is
    tried again in a new worker. After a second one a plain file is graded: only if the grader cannot grade that
    either, the grader is at fault.
    """
    try:
        return _shown(run, exercise, replaced)
    except Exception:
        run.context.slot.close()
    try:
        return _shown(run, exercise, replaced)
    except Exception as error:
        return after_exception(run, exercise, error)


def after_exception(run: SubmissionRun, exercise: Exercise, error: Exception) -> ExerciseResult:
    """Return a result that *failed* if a plain file can be graded; otherwise one that *could not be graded*."""
    run.context.slot.close()
    builder = result_builder(run, exercise)
    if _plain_file_works(run, exercise):
        says = _(
            "for the instructor: the grader raised {error} while it judged this submission; it graded a plain file without an exception"
        )
        return _redacted(run, *builder.unjudged(says.format(error=raised_at(error))))
    says = _("the grader failed: {error}").format(error=raised_at(error))
    return _redacted(run, *builder.without_checks("could_not_grade", says))


def _plain_file_works(run: SubmissionRun, exercise: Exercise) -> bool:
    """Whether the grader can grade a submission that fails in the simplest way."""
    plain = plain_file(exercise)
    try:
        result, _evidence = one_try(SubmissionRun(run.context, plain, read_names(plain)), exercise, ())
    except Exception:
        return False
    return result.outcome != "could_not_grade"


def _shown(run: SubmissionRun, exercise: Exercise, replaced: Sequence[str]) -> ExerciseResult:
    """Return the result of one try as a report may show it: redacted if the cases are hidden, with slips and code.

    A slip is code that raises, that never runs, or that is surely not meant. A result on hidden cases gets no code.
    """
    result, evidence = one_try(run, exercise, replaced)
    shown = _redacted(run, result, evidence)
    # At level 0, a report names no mistake and no line. A slip may be a mistake: that of the broken class to repair.
    if not exercise.level:
        return shown
    shown = with_slips(shown, run.submission, run.alias(exercise), evidence.codes)
    return shown if run.context.options.hidden else _with_code(run, exercise, shown)


def _redacted(run: SubmissionRun, result: ExerciseResult, evidence: Evidence) -> ExerciseResult:
    return redact(result, evidence) if run.context.options.hidden else result


def _with_code(run: SubmissionRun, exercise: Exercise, result: ExerciseResult) -> ExerciseResult:
    if result.outcome not in ("failed", "blocked", "other_interface"):
        return result
    return replace(result, code=code(result, run.submission, run.definition(exercise)))

"""Grade one exercise once, also if the submission makes the grader raise an exception.

Only this module calls `redact` for results of hidden cases.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from grader.bundle.model import Exercise
from grader.engine.one_try import one_try, result_builder
from grader.engine.submission_run import SubmissionRun
from grader.intake.names import Definition, read_names
from grader.intake.read import Submission, Unit
from grader.intake.slips import slips
from grader.judge.redact import Evidence, redact
from grader.report.model import Code, ExerciseResult
from grader.support.i18n import _
from grader.support.sanitize import sanitize

WITH_CODE = ("failed", "blocked", "other_interface")  # outcomes whose report names slips and shows code
AROUND = 4  # lines before and after a named line, if there is no definition
MOST_LINES = 120
_FORWARD = re.compile(r"\s+(async )?def forward\(")


def grade_once(run: SubmissionRun, exercise: Exercise, replaced: Sequence[str] = ()) -> ExerciseResult:
    """Grade one exercise once, with reference blocks instead of `replaced`.

    The submission may cause an exception of the grader; that must not excuse it. After an exception the exercise is
    tried again in a new worker. After a second one a plain file is graded: only if the grader cannot grade that
    either, the grader is at fault.
    """
    try:
        return _shown(run, exercise, replaced)
    except Exception:
        run.context.workers.close()
    try:
        return _shown(run, exercise, replaced)
    except Exception as error:
        return after_exception(run, exercise, error)


def after_exception(run: SubmissionRun, exercise: Exercise, error: Exception) -> ExerciseResult:
    """Return a result that *failed* if a plain file can be graded; otherwise one that *could not be graded*."""
    run.context.workers.close()
    builder = result_builder(run, exercise)
    # The type, file and line of the exception. A submission can choose none of them.
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    raised = type(error).__name__ + place
    if _plain_file_works(run, exercise):
        says = _(
            "for the instructor: the grader raised {error} while it judged this submission; it graded a plain file without an exception"
        )
        return _redacted(run, *builder.unjudged(says.format(error=raised)))
    says = _("the grader failed: {error}").format(error=raised)
    return _redacted(run, *builder.without_checks("could_not_grade", says))


def _plain_file_works(run: SubmissionRun, exercise: Exercise) -> bool:
    source = f"def {exercise.name}(*args, **kwargs):\n    raise ValueError\n"
    plain = Submission(Path("plain.py"), (Unit("plain.py", source),))
    try:
        result, _evidence = one_try(SubmissionRun(run.context, plain, read_names(plain)), exercise, ())
    except Exception:
        return False
    return result.outcome != "could_not_grade"


def _shown(run: SubmissionRun, exercise: Exercise, replaced: Sequence[str]) -> ExerciseResult:
    """Return the result of one try as a report may show it: redacted if the cases are hidden, with slips and code."""
    result, evidence = one_try(run, exercise, replaced)
    shown = _redacted(run, result, evidence)
    # At level 0, a report names no mistake and no line. A slip may be a mistake: that of the broken class to repair.
    if not exercise.level or result.outcome not in WITH_CODE:
        return shown
    shown = with_slips(shown, run.submission, run.alias(exercise), evidence.codes)
    if run.context.options.hidden:
        return shown
    return replace(shown, code=code(shown, run.submission, run.definition(exercise)))


def _redacted(run: SubmissionRun, result: ExerciseResult, evidence: Evidence) -> ExerciseResult:
    return redact(result, evidence) if run.context.options.hidden else result


def with_slips(
    result: ExerciseResult, submission: Submission, name: str, codes: Mapping[str, str]
) -> ExerciseResult:
    """Return the result with the slips in the definition `name` (see intake/slips.py) as its first remarks.

    If a check reports an exception or a timeout, and no known mistake was found, the first slip begins the
    diagnosis instead.

    codes: check id → the code of its finding; that of an exception begins with "!", of a timeout with "lost time".
    """
    says = [sanitize(slip.sentence(), 400) for slip in slips(submission, name)]
    raised = any(code.startswith(("!", "lost time")) for code in codes.values())
    if not says or result.outcome != "failed" or result.diagnosis.alternatives or not raised:
        return replace(result, remarks=(*says, *result.remarks))
    first = "; ".join(filter(None, (says[0], result.diagnosis.says)))
    diagnosis = replace(result.diagnosis, kind="unknown", says=first)
    return replace(result, remarks=(*says[1:], *result.remarks), diagnosis=diagnosis)


def code(result: ExerciseResult, submission: Submission, definition: Definition | None) -> Code | None:
    """Return the lines of a definition; without one, the lines around the first place that the result names.

    Return None if there is neither. The first line of a definition is not marked, because every exception of a call
    can be traced to it.
    """
    named = list(_named_lines(result, submission))
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


def _named_lines(result: ExerciseResult, submission: Submission) -> Iterator[tuple[str, int]]:
    texts = [result.message, *(check.where for check in result.checks)]
    if not result.diagnosis.alternatives:
        # With a known mistake, the lines that these texts name may not contain it.
        texts += [result.diagnosis.says, *result.remarks]
    for unit in submission.units:
        template = _("{file}, line {line}").format(file=sanitize(unit.name), line="\0")
        pattern = re.escape(template).replace(re.escape("\0"), r"(\d{1,7})")
        for text in texts:
            for number in re.findall(pattern, text):
                yield unit.name, int(number)

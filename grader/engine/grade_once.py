"""Grade one exercise once, also if the submission makes the grader raise an exception, and write its result.

What a try finds becomes sentences here, for a public or a hidden report, and nowhere else.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from grader.bundle.model import Exercise
from grader.engine.draft import Draft
from grader.engine.one_try import drafter, one_try
from grader.engine.result import written
from grader.engine.submission_run import SubmissionRun
from grader.intake.names import Definition, read_names
from grader.intake.read import Submission, Unit
from grader.intake.slips import slips
from grader.report.finding import EXCEPTION, STOPPED, Fact
from grader.report.model import Code, ExerciseResult
from grader.report.writer import Writer, line_of
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
    draft = drafter(run, exercise)
    # The type, file and line of the exception. A submission can choose none of them.
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    raised = type(error).__name__ + place
    if _plain_file_works(run, exercise):
        return _written(run, draft.unjudged(Fact("instructor/file", {"error": raised})))
    return _written(run, draft.without_checks("could_not_grade", Fact("grader-failed", {"error": raised})))


def _plain_file_works(run: SubmissionRun, exercise: Exercise) -> bool:
    source = f"def {exercise.name}(*args, **kwargs):\n    raise ValueError\n"
    plain = Submission(Path("plain.py"), (Unit("plain.py", source),))
    try:
        draft = one_try(SubmissionRun(run.context, plain, read_names(plain)), exercise, ())
    except Exception:
        return False
    return draft.outcome != "could_not_grade"


def _shown(run: SubmissionRun, exercise: Exercise, replaced: Sequence[str]) -> ExerciseResult:
    """Return the result of one try as a report may show it, with slips and code."""
    draft = one_try(run, exercise, replaced)
    # At level 0, a report names no mistake and no line. A slip may be a mistake: that of the broken class to repair.
    if not exercise.level or draft.outcome not in WITH_CODE:
        return _written(run, draft)
    draft = with_slips(draft, run.submission, run.alias(exercise))
    result = _written(run, draft)
    if run.context.options.hidden:
        return result
    return replace(result, code=code(draft, run.submission, run.definition(exercise)))


def _written(run: SubmissionRun, draft: Draft) -> ExerciseResult:
    read = (*run.submission.units, *run.submission.neighbours)
    files = {unit.name: len(unit.source.splitlines()) for unit in read}
    return written(draft, Writer(run.context.options.hidden, files))


def with_slips(draft: Draft, submission: Submission, name: str) -> Draft:
    """Return the draft with the slips in the definition `name` (see intake/slips.py) as its first remarks.

    If a check reports an exception or a timeout, and no known mistake was found, the first slip begins the
    diagnosis instead.
    """
    found = [
        Fact("slip", {"file": slip.unit, "line": slip.line, "slip": slip.says})
        for slip in slips(submission, name)
    ]
    raised = any(one.finding.kind == EXCEPTION or one.finding.rule == STOPPED for one in draft.checks)
    if not found or draft.outcome != "failed" or draft.diagnosed.alternatives or not raised:
        return replace(draft, remarks=(*found, *draft.remarks))
    diagnosed = replace(draft.diagnosed, kind="unknown")
    return replace(draft, slip=found[0], remarks=(*found[1:], *draft.remarks), diagnosed=diagnosed)


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

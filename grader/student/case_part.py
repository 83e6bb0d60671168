"""Find a part of a failing case that fails in the same way: one sequence of the batch, few steps, few digits."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec.structs import replace

from grader.bundle.files import in_short
from grader.bundle.model import Check, Exercise, RecordedCase
from grader.engine.engine import Engine
from grader.engine.grade_exercise import grade_exercise
from grader.engine.grading import Grading
from grader.engine.student_file import student_file
from grader.lines.find import Source
from grader.report.model import CheckResult
from grader.support.i18n import _
from grader.worker.steps import See

BATCH = "batch"  # the axis of the sequences
DECIMALS, TOLERANCE = 3, 0.05  # of rounded inputs, and of what is computed from them
# An input larger than this may multiply what was rounded off others, and one smaller than its inverse would be rounded
# away: then all keep twice as many decimals.
LARGE = 100


def smallest(
    engine: Engine, source: Source, exercise: Exercise, failed: CheckResult
) -> tuple[RecordedCase, str]:
    """Return a part of the case of a failed check, and a sentence about it: one sequence, or the whole batch.

    The parts are graded. If none fails as the whole case does, return the whole case and "".
    """
    case, check = next((c, check) for c in exercise.cases for check in c.checks if check.id == failed.id)
    check = replace(check, params={**check.params, "tol": TOLERANCE})
    if check.judge not in ("equal", "shape") or case.brings_classes:  # others do not allow for rounded inputs
        return case, ""
    parts = [
        replace(part, id=str(i), checks=(replace(check, id=str(i)),))
        for i, part in enumerate(_parts(case, check, failed.rule))
    ]
    tried = replace(exercise, cases=tuple(parts), mistakes=(), signatures=None)
    file = student_file(engine.context.course, source.submission, source.parts)
    result = grade_exercise(Grading(engine.context), file, tried)
    fault = failed.outcome, failed.rule, failed.file, failed.line
    alike = [int(one.id) for one in result.checks if (one.outcome, one.rule, one.file, one.line) == fault]
    if not alike:
        return case, ""
    says = _("The numbers are rounded.")
    if alike[0] < len(parts) - 1:
        says = _("Only sequence {n} of the batch, with rounded numbers. It fails alone.").format(n=alike[0])
    return parts[alike[0]], says


def _parts(case: RecordedCase, check: Check, rule: str) -> Iterator[RecordedCase]:
    """Yield the case with rounded inputs: if values are wrong, each sequence of the batch, then the whole batch.

    If a check looks at one result, only with the steps that lead to it.
    """
    floats = {name: array for name, array in case.tensors.items() if array.dtype.kind == "f"}
    sizes = [np.abs(array[np.isfinite(array)]).max(initial=0) for array in floats.values()]
    is_odd = any(size > LARGE or 0 < size < 1 / LARGE for size in sizes)
    decimals = 2 * DECIMALS if is_odd else DECIMALS
    inputs = {step.name for step in case.inputs}  # weights go into a file, so nobody reads them
    rounded = {name: array.round(decimals) for name, array in floats.items() if name in inputs}
    whole = replace(case, like="", tensors={**case.tensors, **rounded})
    name, *others = check.of
    if not others and any(isinstance(step, See) and step.name == name for step in case.steps):
        whole = replace(whole, steps=tuple(in_short(case.steps, name)))
        header = case.headers[name]
        if rule.startswith("values") and BATCH in header.axes:
            at = header.axes.index(BATCH)
            size = header.shape[at]
            inputs = {step.name for step in whole.inputs if whole.tensors[step.name].shape[:1] == (size,)}
            for row in range(size):
                want = case.expected[name].take([row], at)
                yield replace(
                    whole,
                    tensors={n: array[[row]] if n in inputs else array for n, array in whole.tensors.items()},
                    headers={**case.headers, name: replace(header, shape=want.shape)},
                    expected={**case.expected, name: want},
                )
    yield whole

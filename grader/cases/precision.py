"""The facet `precision`: run a case again in another dtype, and check values and dtype of its result.

An author asks for it with `Case.check_precision`; no new case is needed. Which dtype an answer uses inside is not
checked.
"""

from __future__ import annotations

from collections.abc import Iterator

from grader.bundle.model import OTHER_DTYPES, PRECISION
from grader.bundle.steps import in_dtype, in_short
from grader.cases.case import Case


def in_other_dtypes(case: Case) -> Iterator[Case]:
    """Yield the case in each other dtype, once for each result whose precision its author asked for."""
    for asked in case.again:
        for dtype in OTHER_DTYPES:
            again = Case(f"{case.id}-{dtype}", case.exercise, dtype)
            again.like, again.steps = case.id, in_short(case.steps, asked.see)
            again.tensors = in_dtype(case.tensors, again.steps, dtype)
            again.axes = {asked.see: case.axes[asked.see]}
            title = f"{dtype}: {asked.title}"
            again.check("precision", "precise", [asked.see], title, policy=PRECISION, **asked.params)
            yield again

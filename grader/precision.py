"""The facet `precision`: a case once more in another dtype. Its result is right there, and has that dtype.

An author asks for it with `Case.check_precision`; nothing is drawn or written anew. What an answer computes
in inside is its own business: only the result is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from grader.case import Case, round_to
from grader.checks import Check
from grader.tensors import Array

# What is neither on the way to the result nor the result itself.
_ASIDE = frozenset(("gradients", "after", "weights", "stages", "see", "see_value"))

Step = Mapping[str, Any]


def in_other_dtypes(case: Case) -> Iterator[Case]:
    """The case once more in each dtype that its author asked for."""
    for asked in case.again:
        for dtype in asked.dtypes:
            again = Case(f"{case.id}-{dtype}", case.exercise, dtype)
            again.like, again.steps = case.id, in_short(case.steps, asked.see)
            again.tensors = in_dtype(case.tensors, again.steps, dtype)
            again.axes = {asked.see: case.axes[asked.see]}
            again.checks.append(
                Check(
                    f"{again.id}/precision",
                    "precision",
                    f"{dtype}: {asked.title}",
                    "precise",
                    (asked.see,),
                    dict(asked.params),
                )
            )
            yield again


def in_short(steps: Sequence[Step], see: str) -> list[Any]:
    """The steps that lead to one observation and make it. Nothing is differentiated."""
    last = next(i for i, step in enumerate(steps) if step["do"] == "see" and step["name"] == see)
    kept = [step for step in steps[:last] if step["do"] not in _ASIDE] + [steps[last]]
    return [{**step, "grad": False} if "grad" in step else step for step in kept]


def in_dtype(tensors: Mapping[str, Array], steps: Sequence[Step], dtype: str) -> dict[str, Array]:
    """The tensors that these steps take, rounded to the dtype."""
    names = {step["name"] for step in steps if step["do"] == "input"}
    for step in steps:
        if step["do"] == "load":
            names |= {recipe for recipe in step["weights"].values() if isinstance(recipe, str)}
    return {
        name: round_to(array, dtype) if array.dtype.kind == "f" else array
        for name, array in tensors.items()
        if name in names
    }

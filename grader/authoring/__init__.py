"""The names that cases, mistakes and variants in solutions/ import.

    from grader.authoring import Case, edit, mistake, trivial, variant

These files import only from here and from `grader.given`, so that they do not depend on how the grader is laid out.
"""

from __future__ import annotations

from typing import Any

from grader.authoring.bank import also, device_mistake, dtype_mistake, edit, mistake, mutant, trivial, variant
from grader.bundle.files import round_to
from grader.cases import draw as weights
from grader.cases.case import Case
from grader.cases.draw import block_arguments, eye, filled, zeros
from grader.judge.removals import spearman
from grader.support.code import definition_span, stub
from grader.worker.steps import Filled, Ref

__all__ = [
    "Case",
    "Filled",
    "Ref",
    "also",
    "block_arguments",
    "blocks",
    "definition_span",
    "device_mistake",
    "dtype_mistake",
    "edit",
    "eye",
    "filled",
    "mistake",
    "mutant",
    "round_to",
    "spearman",
    "stub",
    "trivial",
    "variant",
    "weights",
    "zeros",
]


def blocks(*names: str) -> list[Any]:
    """Return building blocks by name, for a generator of cases that must run a model."""
    from grader.authoring import observe  # needs torch

    return observe.blocks(*names)

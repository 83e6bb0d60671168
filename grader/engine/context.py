"""What grading one submission needs: the course's exercises, a worker, and the options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from grader.bundle.model import Exercise
from grader.engine.result_cache import Remembered
from grader.engine.session import Training
from grader.engine.worker_slot import Workplace
from grader.intake.names import Names


@dataclass(frozen=True)
class Context:
    """The tables made from the bundles of a course, the worker slot, and the options of one grading.

    constructors: exercise → the keywords that every case passes to its class; None for a function.
    stubs: assignment → the names that its original stub defines.
    """

    exercises: Mapping[str, Exercise]
    constructors: Mapping[str, frozenset[str] | None]
    stubs: Mapping[str, Names]
    slot: Workplace
    device: str
    hidden: bool
    quick: bool
    torch_version: str
    training: Callable[[str, Training], None]
    cache: Remembered | None

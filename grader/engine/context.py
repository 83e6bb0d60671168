"""Everything that grading a submission needs: the course's exercises, a worker, and the options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grader.bundle.model import Exercise
from grader.engine.grading_options import GradingOptions
from grader.engine.interface import Source
from grader.engine.worker_slot import WorkerSlot
from grader.intake.names import Definition


@dataclass(frozen=True)
class Context:
    """The tables made from the bundles of a course, the worker slot, and the options.

    contracts: exercise → its definition in the original stub.
    stubs: assignment → its original stub and what it defines.
    """

    exercises: Mapping[str, Exercise]
    contracts: Mapping[str, Definition]
    stubs: Mapping[str, Source]
    slot: WorkerSlot
    options: GradingOptions

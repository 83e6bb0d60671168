"""Find out whether an assignment's public folder matches its solutions, without recording any case.

Of a bundle, the seed, stub, names, points, hints, building blocks, steps, inputs and tensors for the judge are compared,
and it may hold no other tensors than these and the expected output. `grader build --check` also compares the expected
output.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch

from grader.authoring.build import lesson, notebook
from grader.authoring.content import Assignment
from grader.bundle.files import TENSORS_FILE, dump, load
from grader.bundle.model import Bundle, Exercise, RecordedCase
from grader.bundle.safetensors import Array, decode
from grader.cases.case import Case
from grader.cases.draw import PUBLIC_SEED
from grader.support.code import stub


def stale(assignment: Assignment, folder: Path) -> str:
    """Return in a few words what is missing or out of date; "" if nothing is."""
    torch.set_num_threads(1)  # as for a recording: the tensors are tiny
    text = stub(assignment.source)
    wanted: dict[str, str | bytes] = {
        "README.md": lesson(assignment.module, text),
        f"{assignment.module}.py": text,
        f"{assignment.module}.ipynb": notebook(assignment.name, text),
    }
    for name, content in (wanted | dict(assignment.pictures)).items():
        path = folder / name
        if not path.is_file():
            return f"{name} is missing"
        if (path.read_text("utf-8") if isinstance(content, str) else path.read_bytes()) != content:
            return f"{name} is not what solutions/{assignment.name} gives"
    try:
        bundle = load(folder)
    except (OSError, ValueError, KeyError, TypeError):
        return "its bundle cannot be read"
    if not _agrees(assignment, bundle, text):
        return f"its bundle is not what solutions/{assignment.name} gives"
    stored = decode((folder / TENSORS_FILE).read_bytes()).keys()
    return "" if stored == decode(dump(bundle)[1]).keys() else "its bundle holds tensors that no case uses"


def _agrees(assignment: Assignment, bundle: Bundle, text: str) -> bool:
    return (
        bundle.seed == PUBLIC_SEED
        and bundle.stub == text
        and [e.name for e in bundle.exercises] == [e.name for e in assignment.exercises]
        and all(_same_exercise(assignment, e) for e in bundle.exercises)
    )


def _same_exercise(assignment: Assignment, exercise: Exercise) -> bool:
    described = assignment.exercise(exercise.name)
    cases = assignment.cases(exercise.name, PUBLIC_SEED)
    return (
        exercise.given == assignment.given(described)
        and exercise.points == described.points
        and exercise.hints == described.hints
        and len(cases) == len(exercise.cases)
        and all(_same_case(case, recorded) for case, recorded in zip(cases, exercise.cases, strict=True))
    )


def _same_tensors(one: Mapping[str, Array], other: Mapping[str, Array]) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


def _same_case(case: Case, recorded: RecordedCase) -> bool:
    return (
        case.id == recorded.id
        and case.steps == list(recorded.steps)
        and _same_tensors(case.tensors, recorded.tensors)
        and _same_tensors(case.for_judge, recorded.for_judge)
        and (case.exam is None) == (recorded.exam is None)
        and (case.exam is None or recorded.exam is None or _same_case(case.exam, recorded.exam))
    )

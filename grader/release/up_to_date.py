"""Is an assignment's public folder what its solutions give? Asked without recording anything anew.

What the reference *gives* on the cases is not computed here: the proof grades the reference with the very
bundle that is shipped, and `grader build --check` compares every number.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from grader.authoring.build import lesson, notebook
from grader.authoring.content import Assignment
from grader.bundle.files import load
from grader.bundle.model import Bundle, Exercise, RecordedCase
from grader.bundle.safetensors import Array
from grader.cases.case import Case
from grader.cases.draw import PUBLIC_SEED
from grader.support.stub import stub


def stale(assignment: Assignment, folder: Path) -> str:
    """What in the folder is not as it must be: a few words, or nothing."""
    text = stub(assignment.source)
    wanted = {
        "README.md": lesson(assignment.module, text),
        f"{assignment.module}.py": text,
        f"{assignment.module}.ipynb": notebook(assignment.name, text),
    }
    for name, content in wanted.items():
        path = folder / name
        if not path.is_file():
            return f"{name} is missing"
        if path.read_text("utf-8") != content:
            return f"{name} is not what solutions/{assignment.name} gives"
    for name, drawn in assignment.pictures.items():
        path = folder / name
        if not path.is_file():
            return f"{name} is missing"
        if path.read_bytes() != drawn:
            return f"{name} is not what solutions/{assignment.name} gives"
    try:
        bundle = load(folder)
    except (OSError, ValueError, KeyError, TypeError):
        return "its bundle cannot be read"
    return (
        ""
        if _agrees(assignment, bundle, text)
        else f"its bundle is not what solutions/{assignment.name} gives"
    )


def _agrees(assignment: Assignment, bundle: Bundle, text: str) -> bool:
    fields = {e["name"]: e for e in assignment.exercises}
    return (
        bundle.seed == PUBLIC_SEED
        and bundle.stub == text
        and [e.name for e in bundle.exercises] == list(fields)
        and all(_same_exercise(assignment, e) for e in bundle.exercises)
    )


def _same_exercise(assignment: Assignment, exercise: Exercise) -> bool:
    fields = next(e for e in assignment.exercises if e["name"] == exercise.name)
    cases = assignment.cases(exercise.name, PUBLIC_SEED)
    return (
        exercise.given == assignment.given(fields)
        and exercise.points == fields["points"]
        and exercise.hints == tuple(fields["hints"])
        and len(cases) == len(exercise.cases)
        and all(_same_case(case, recorded) for case, recorded in zip(cases, exercise.cases, strict=True))
    )


def _same_tensors(one: Mapping[str, Array], other: Mapping[str, Array]) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


def _same_case(case: Case, recorded: RecordedCase) -> bool:
    return (
        case.id == recorded.id
        and json.loads(json.dumps(case.steps)) == list(recorded.steps)
        and _same_tensors(case.tensors, recorded.tensors)
        and _same_tensors(case.for_judge, recorded.for_judge)
    )

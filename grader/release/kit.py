"""Choose what belongs to a kit, if assignments/ is what solutions/ gives."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from grader.authoring import build
from grader.authoring.assemble import Measured, bundle_of
from grader.authoring.content import Assignment, read_all
from grader.bundle.files import load
from grader.bundle.model import Bundle, RecordedCase
from grader.bundle.safetensors import Array
from grader.cases.case import Case
from grader.cases.draw import PUBLIC_SEED
from grader.release.folder import blocks_of
from grader.support.errors import UsageError


@dataclass(frozen=True)
class KitPlan:
    """The assignments of one kit, and the building blocks that go with them."""

    solutions: tuple[Assignment, ...]
    bundles: tuple[Bundle, ...]
    blocks: tuple[str, ...]

    @property
    def exercises(self) -> tuple[str, ...]:
        return tuple(e.name for b in self.bundles for e in b.exercises)

    @property
    def answers(self) -> tuple[str, ...]:
        """Return blocks that are themselves answers to exercises of this kit, in the order of the course."""
        return tuple(name for name in self.exercises if name in self.blocks)


def plan(solutions: Path, assignments: Path, through: str | None = None) -> KitPlan:
    """Choose the assignments up to `through` (a number or a name; None: all) and the blocks they need.

    Raises UsageError if there is no such assignment, or if assignments/ does not match solutions/.
    """
    chosen = _up_to(through, read_all(solutions))
    bundles = []
    for assignment in chosen:
        folder = assignments / assignment.name
        if why := _stale(assignment, folder):
            raise UsageError(f"{folder}: {why}; run `grader build` first")
        bundles.append(load(folder))
    return KitPlan(tuple(chosen), tuple(bundles), blocks_of(bundles))


def _up_to(through: str | None, known: list[Assignment]) -> list[Assignment]:
    if not known:
        raise UsageError("solutions/ holds no assignment")
    if through is None:
        return known
    wanted = through.rstrip("/").zfill(2)
    for place, assignment in enumerate(known):
        if wanted in (assignment.name, assignment.name.split("_")[0]):
            return known[: place + 1]
    numbers = ", ".join(a.name.split("_")[0] for a in known)
    raise UsageError(f"there is no assignment {through}; there are {numbers}")


def _stale(assignment: Assignment, folder: Path) -> str:
    """Return in a few words what is missing or out of date in an assignment's public folder; "" if nothing is.

    No case is recorded: what was recorded is taken from the bundle there, if its cases have the steps and the inputs of
    solutions/. `grader build --check` also compares the expected output.
    """
    torch.set_num_threads(1)  # as for a recording: the tensors are tiny
    source = f"what solutions/{assignment.name} gives"
    try:
        recorded = {exercise.name: exercise for exercise in load(folder).exercises}
    except (OSError, ValueError, KeyError, TypeError):
        return "its bundle cannot be read"
    for described in assignment.exercises:
        cases = assignment.cases(described.name, PUBLIC_SEED)
        found = recorded[described.name].cases if described.name in recorded else ()
        if len(cases) != len(found) or not all(map(_same_case, cases, found)):
            return f"its bundle is not {source}"
    measured = {name: Measured(exercise.cases, exercise.signatures) for name, exercise in recorded.items()}
    wanted = build.files_of(assignment, bundle_of(assignment, PUBLIC_SEED, measured))
    for name, data in wanted.items():
        if not (folder / name).is_file():
            return f"{name} is missing"
        if not build.is_same((folder / name).read_bytes(), data, name):
            return f"{name} is not {source}"
    return ""


def _same_case(case: Case, recorded: RecordedCase) -> bool:
    return (
        case.id == recorded.id
        and case.steps == list(recorded.steps)
        and _same_tensors(case.tensors, recorded.tensors)
        and _same_tensors(case.for_judge, recorded.for_judge)
        and (case.exam is None) == (recorded.exam is None)
        and (case.exam is None or recorded.exam is None or _same_case(case.exam, recorded.exam))
    )


def _same_tensors(one: Mapping[str, Array], other: Mapping[str, Array]) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


NOTEBOOK = "colab.ipynb"
_ADDRESS = re.compile(r"(https|file)://[\w./~:@%+-]+")

_FIRST_CELL = """\
# Run this cell first. It fetches the course and installs the grader.
!test -d ~/course || git clone --quiet --depth 1 {url} ~/course
%pip install --quiet ~/course/wheels/{wheel}
%cd -q ~/course/{assignment}"""


def add_notebooks(kit: Path, plan: KitPlan, url: str, wheel: str) -> None:
    """Write `colab.ipynb` beside each notebook of a kit.

    url: the git repository in which the kit will be public. Raises UsageError if it is not an address.
    """
    if not _ADDRESS.fullmatch(url):
        raise UsageError(
            f"--colab: {url} is not the address of a git repository, such as https://github.com/ORG/COURSE"
        )
    for assignment in plan.solutions:
        folder = kit / assignment.name
        book = json.loads((folder / f"{assignment.module}.ipynb").read_text("utf-8"))
        source = _FIRST_CELL.format(url=url, wheel=wheel, assignment=assignment.name)
        cell = {"cell_type": "code", "id": "fetch-the-course", "source": source.splitlines(keepends=True)}
        book["cells"].insert(0, {"execution_count": None, "metadata": {}, "outputs": [], **cell})
        (folder / NOTEBOOK).write_text(json.dumps(book, indent=1, ensure_ascii=False) + "\n", "utf-8")

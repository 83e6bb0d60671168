"""Prove by construction that a filled kit holds no answer: each file has a known origin, and no solution is in any."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from grader.authoring.hidden_cases import seed_file
from grader.given import BLOCKS
from grader.release.colab import NOTEBOOK
from grader.release.kit import KitPlan, Unproved, files_of
from grader.release.leaks import Document, answers, documents, leaks, seeds, unmarked


def prove(plan: KitPlan, kit: Path, assignments: Path) -> tuple[str, ...]:
    """Return what was proved about a kit, a sentence per claim. Raises Unproved with the first that is wrong."""
    files = documents(kit)
    _refuse(list(_of_unknown_origin(plan, files, assignments)))
    _refuse(
        [
            f"the solution of {name} is not marked in solutions/"
            for a in plan.solutions
            for name in unmarked(a)
        ]
    )
    secret = answers(plan.solutions)
    _refuse(list(leaks(files, secret, plan.blocks)))
    _refuse(list(seeds(files, seed_file().read_text("utf-8").strip())))
    return (
        "lessons, stubs and bundles are those of assignments/; their inputs are drawn from the public seed",
        f"the wheel holds {len(plan.blocks)} building blocks: those that the exercises may use",
        f"no other file of the {len(files)} holds a solution, another right answer or the source of known mistakes"
        f" ({len(secret)} texts were compared, with their names)",
        "no file holds the secret seed",
    )


def _of_unknown_origin(plan: KitPlan, files: Sequence[Document], assignments: Path) -> Iterator[str]:
    """Yield a sentence per file of a lesson that is not the one in assignments/, and per building block that no
    exercise may use.
    """
    known = {f"{a.name}/{name}": assignments / a.name / name for a in plan.solutions for name in files_of(a)}
    blocks = {"__init__.py", *(BLOCKS[block] for block in plan.blocks)}
    for file in files:
        folder, _slash, name = file.name.partition("/")
        inside = file.name.partition("!grader/given/")[2]
        if inside and inside not in blocks:
            yield f"{file.name} is a building block that no exercise of the kit may use"
        elif file.name in known:
            if file.data != known[file.name].read_bytes():
                yield f"{file.name} is not the file in {assignments}"
        elif file.suffix == ".safetensors" or (_is_lesson(folder, plan) and name != NOTEBOOK):
            yield f"{file.name} is no file of {assignments}"


def _is_lesson(folder: str, plan: KitPlan) -> bool:
    return folder in {assignment.name for assignment in plan.solutions}


def _refuse(found: Collection[str]) -> None:
    """Raise Unproved with the first sentence and the number of others, if there are any."""
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise Unproved(f"{next(iter(found))}{more}")

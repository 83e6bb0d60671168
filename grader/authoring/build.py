"""Make assignments/ from solutions/: text, pictures, stub, notebook and public bundle of every assignment.

The folders of the assignments are generated and committed, never edited by hand. This module needs the libraries of
the `build` group.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from grader.authoring.content import PICTURES, Assignment, chosen, read_all
from grader.authoring.recordings import Tell, record_all
from grader.bundle import files as bundles
from grader.bundle.files import MANIFEST_FILE, TENSORS_FILE
from grader.bundle.model import Bundle
from grader.bundle.safetensors import Array, decode
from grader.cases.draw import PUBLIC_SEED
from grader.support.code import stub
from grader.support.files import write_atomically

TRY = "## Try it"  # opens the text above a cell to run
CLOSE = 1e-12  # regenerated values may differ by this much (float64): processors sum in different orders


def files_of(assignment: Assignment, bundle: Bundle) -> dict[str, bytes]:
    """Return every file of one assignment's folder, by name."""
    words, numbers = bundles.dump(bundle)
    text = stub(assignment.source)
    return {
        "README.md": lesson(assignment.module, text).encode(),
        f"{assignment.module}.py": text.encode(),
        f"{assignment.module}.ipynb": notebook(assignment.name, text).encode(),
        MANIFEST_FILE: words,
        TENSORS_FILE: numbers,
        **assignment.pictures,
        **assignment.pages,
        **assignment.answers,
    }


def build(
    solutions: Path, assignments: Path, only: Sequence[str] = (), tell: Tell | None = None
) -> list[Path]:
    """Write assignments/, or only the assignments that `only` names. Return the files that changed.

    Raises UsageError for an unknown name.
    """
    changed = []
    for assignment, bundle in _recorded(solutions, only, tell):
        folder = assignments / assignment.name
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in files_of(assignment, bundle).items():
            path = folder / name
            if not path.exists() or not is_same(path.read_bytes(), data, name):
                path.parent.mkdir(exist_ok=True)
                write_atomically(path, data)
                changed.append(path)
    return changed


def stale(
    solutions: Path, assignments: Path, only: Sequence[str] = (), tell: Tell | None = None
) -> Iterator[str]:
    """Yield a sentence for each file of assignments/ that is missing, extra, or differs from what solutions/ gives.

    Raises UsageError for an unknown name in `only`.
    """
    wanted: set[Path] = set()
    recorded = _recorded(solutions, only, tell)
    for assignment, bundle in recorded:
        for name, data in files_of(assignment, bundle).items():
            path = assignments / assignment.name / name
            wanted.add(path)
            if not path.exists():
                yield f"{path} is missing"
            elif not is_same(path.read_bytes(), data, name):
                yield f"{path} differs from what solutions/{assignment.name} gives"
    folders = [assignments / a.name for a, _b in recorded] if only else assignments.glob("[0-9][0-9]_*")
    for folder in sorted(folders):
        for path in sorted([*folder.iterdir(), *folder.glob(f"{PICTURES}/*")]):
            if path.is_file() and path not in wanted:
                yield f"{path} is not generated from anything in solutions/"


def _recorded(solutions: Path, only: Sequence[str], tell: Tell | None) -> list[tuple[Assignment, Bundle]]:
    assignments = chosen(read_all(solutions), only)
    return list(zip(assignments, record_all(assignments, PUBLIC_SEED, tell), strict=True))


def is_same(old: bytes, new: bytes, name: str) -> bool:
    """Compare files: bundle.json by its meaning; in the file with tensors, floats may differ by rounding."""
    if old == new:
        return True
    try:
        if name == MANIFEST_FILE:
            return bool(msgspec.json.decode(old, type=Bundle) == msgspec.json.decode(new, type=Bundle))
        if name != TENSORS_FILE:
            return False
        before, after = decode(old), decode(new)
    except ValueError:
        return False
    return before.keys() == after.keys() and all(_close(before[key], after[key]) for key in before)


def _close(a: Array, b: Array) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind != "f":
        return bool(np.array_equal(a, b))
    allowed = CLOSE if a.dtype == np.float64 else float(np.finfo(a.dtype).eps)
    return bool(np.allclose(a, b, rtol=allowed, atol=allowed, equal_nan=True))


def lesson(module: str, text: str) -> str:
    """Return the Markdown cells of a module as one page, with links to its files.

    Cells that begin with TRY are left out: they belong to code that can be run.
    """
    cells = [cell.source for cell in _cells(text) if cell.cell_type == "markdown"]
    title, _, rest = cells[0].partition("\n")
    where = (
        f"*The code and the text of this lesson are in [{module}.py]({module}.py) and in\n"
        f"[{module}.ipynb]({module}.ipynb). Work in either file.*"
    )
    kept = [cell for cell in cells[1:] if not cell.startswith(TRY)]
    return "\n\n".join([title, where, rest.lstrip("\n"), *kept]) + "\n"


def notebook(assignment: str, text: str) -> str:
    """Return the module as a notebook, with a cell below each exercise that checks it.

    The id of a cell is a hash of assignment and position, or of the check, so it stays the same.
    """
    import nbformat

    book = nbformat.v4.new_notebook(
        metadata={
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
    )

    def add(kind: str, source: str, place: object, **metadata: str) -> None:
        make = nbformat.v4.new_markdown_cell if kind == "markdown" else nbformat.v4.new_code_cell
        id = hashlib.sha256(f"{assignment}/{place}".encode()).hexdigest()[:12]
        book.cells.append(make(source, id=id, metadata=metadata))

    cells = _cells(text)
    first = [cell.cell_type for cell in cells].index("code")
    for place, cell in enumerate(cells):
        name = cell.metadata.get("exercise")
        if place == first:
            add("code", "from grader import check", "check")
        add(cell.cell_type, cell.source, place, **({"headway": name} if name else {}))
        if name:
            add("code", f'check("{name}")', f"check {name}")
    return str(nbformat.writes(book)) + "\n"


def _cells(text: str) -> list[Any]:
    import jupytext

    return list(jupytext.reads(text, fmt="py:percent").cells)

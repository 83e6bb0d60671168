"""Find what a student submitted for an assignment, as `grader grade` does: any file, archive or folder counts.

nbgrader alone skips a folder without a notebook, and gives no points for a notebook of another name. So
`set_aside.py` puts the assignment's notebook on nbgrader's list, whether or not that file exists, and the exporter
(`notebook_file.py`) shows the submitted files in its place. Nothing in `submitted/` changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path, PurePosixPath

from grader.bundle.files import MANIFEST_FILE, load_all
from grader.bundle.model import Bundle
from grader.classroom.bounded_reader import BoundedReader
from grader.classroom.discover import SubmittedFile, discover, may_hold, nothing_in
from grader.intake.names import answers
from grader.intake.read import read_bytes, shown
from grader.support.errors import GraderError
from grader.support.i18n import _


def is_ours(notebook: Path) -> bool:
    """Whether the grader made this notebook; the path is `submitted/NAME/ASSIGNMENT/NOTEBOOK`."""
    source = _source(notebook)
    expected = notebook.stem == notebook.parent.name and (source / notebook.name).is_file()
    return expected and (source / MANIFEST_FILE).is_file()


def released(folder: Path) -> list[Path]:
    """Return where the notebooks of an assignment are in a submission; the folder is `submitted/NAME/ASSIGNMENT`."""
    return [folder / path.name for path in _source(folder / "_").glob("*.ipynb")]


def submitted(notebook: Path) -> list[SubmittedFile]:
    """Return the files that a student submitted for a notebook; if there is none, one entry with a problem.

    notebook: its path, `submitted/NAME/ASSIGNMENT/NOTEBOOK`. If the grader did not make it, the file itself is returned.
    """
    root, student, assignment = notebook.parents[2], notebook.parts[-3], notebook.parts[-2]
    if not is_ours(notebook):
        place = str(PurePosixPath(*notebook.parts[-3:]))
        is_link = any(path.is_symlink() for path in (notebook, *notebook.parents[:2]))
        says = _("{file} is a symbolic link; submit the file itself").format(file=shown(notebook))
        read = partial(read_bytes, notebook)
        return [SubmittedFile(student, place, read, 0.0, problem=says if is_link else "")]
    bundles = _bundles(_source(notebook).parent)
    names = [e.name for b in bundles for e in b.exercises if b.assignment == assignment]
    found = [f for f in discover(root, bundles, student) if may_hold(f, names, bundles)]
    if found:
        return found
    return [
        SubmittedFile(student, f"{student}/{assignment}", bytes, 0.0, problem=nothing_in(notebook.parent))
    ]


def graded_as(file: SubmittedFile, notebook: Path) -> str:
    """Return a remark on a file that is graded in the place of a notebook; "" if it is that notebook."""
    place = PurePosixPath(file.submission)
    for folder in (PurePosixPath(*notebook.parts[-3:-1]), PurePosixPath(notebook.parts[-3])):
        if place.is_relative_to(folder):
            place = place.relative_to(folder)
            break
    if file.problem or str(place) == notebook.name:
        return ""
    return _("{file} was graded as {name}").format(file=place, name=notebook.name)


def is_submitted_elsewhere(notebook: Path) -> bool:
    """Whether a student without a folder for the assignment submitted a file that is named as it or answers it."""
    bundles = _bundles(_source(notebook).parent)
    (bundle,) = (b for b in bundles if b.assignment == notebook.parent.name)
    names = [exercise.name for exercise in bundle.exercises]
    with BoundedReader() as reader:
        for file in submitted(notebook):
            if file.problem:
                continue
            with suppress(GraderError):
                if bool(file.expected) or reader.call(answers, file.file, file.read, bundle.stub, names):
                    return True
    return False


def _source(notebook: Path) -> Path:
    return notebook.parents[3] / "source" / notebook.parent.name


def _bundles(source: Path) -> Sequence[Bundle]:
    manifests = sorted(source.glob(f"*/{MANIFEST_FILE}"))
    return _loaded(source, tuple((path, path.stat().st_mtime_ns) for path in manifests))


@lru_cache(maxsize=1)
def _loaded(source: Path, written: tuple[tuple[Path, int], ...]) -> Sequence[Bundle]:
    return load_all(source)

"""Find a student's notebook that has another name than the assignment: nbgrader alone would give it no points.

Nothing in `submitted/` changes. The hook (`set_aside.py`) puts the assignment's notebook on the list of files that
nbgrader grades, and the exporter (`read_notebook.py`) reads the student's file in its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from grader.bundle.files import MANIFEST_FILE, load
from grader.intake.read import read_bytes, shown
from grader.intake.stub_changes import answers, only_answer
from grader.support.i18n import _


@dataclass(frozen=True)
class Submitted:
    """The file to grade, or why none was chosen; and remarks on the folder."""

    path: Path | None
    problem: str = ""
    remarks: tuple[str, ...] = ()


def add_expected(folder: Path, notebooks: list[str]) -> None:
    """Replace nbgrader's list by the only notebook of the assignment, if that is not on the list."""
    expected = _released(folder)
    if len(expected) == 1 and expected[0] not in {Path(notebook).name for notebook in notebooks}:
        notebooks[:] = [str(folder / expected[0])]


def submitted(path: Path) -> Submitted:
    """Return the notebook to read for a path on nbgrader's list: that file, or the one submitted under another name."""
    released = _released(path.parent)
    others = sorted(p.name for p in path.parent.glob("*.ipynb") if p.name not in (path.name, *released))
    if path.exists() or path.is_symlink() or not others:
        return Submitted(path, remarks=_not_graded(others))
    taken = only_answer(others, partial(_answers, path.parent))
    if taken is None:
        problem = _("no notebook here is named {name}, and the grader cannot choose between {files}")
        files = ", ".join(shown(Path(other)) for other in others)
        return Submitted(None, problem.format(name=path.name, files=files))
    remark = _("{file} was graded as {name}").format(file=shown(Path(taken)), name=path.name)
    left = [other for other in others if other != taken]
    return Submitted(path.with_name(taken), remarks=(remark, *_not_graded(left)))


def _released(folder: Path) -> list[str]:
    """Return the names of the assignment's notebooks; `folder` is `submitted/NAME/ASSIGNMENT`."""
    return sorted(path.name for path in _source(folder).glob("*.ipynb"))


def _source(folder: Path) -> Path:
    return folder.parents[2] / "source" / folder.name


def _answers(folder: Path, name: str) -> bool:
    """Whether a notebook answers the assignment. False for a link, and for an assignment without public cases."""
    path, source = folder / name, _source(folder)
    if path.is_symlink() or not (source / MANIFEST_FILE).is_file():
        return False
    bundle = load(source)
    return answers(path, partial(read_bytes, path), bundle.stub, [e.name for e in bundle.exercises])


def _not_graded(names: Sequence[str]) -> tuple[str, ...]:
    if not names:
        return ()
    files = ", ".join(shown(Path(name)) for name in names)
    return (_("also in the folder, not graded: {files}").format(files=files),)

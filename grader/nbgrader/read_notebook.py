"""nbconvert's exporter for submissions: it shows any submitted file as a notebook, or the problem with it."""

from __future__ import annotations

import atexit
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat.notebooknode import NotebookNode

from grader.classroom.bounded_reader import BoundedReader, Unreadable
from grader.classroom.discover import SubmittedFile
from grader.intake.read import Blocked, read_bytes, shown
from grader.nbgrader.notebook_file import plain
from grader.nbgrader.submissions import graded_as, submitted
from grader.support.i18n import _

T = TypeVar("T")

# In nbconvert's resources:
REMARKS = "headway_remarks"  # sentences about the submitted files, such as which of them counts
IS_NOTEBOOK = (
    "headway_notebook"  # whether the student submitted a notebook, of which repaired cells are reported
)
NOTES = "headway"  # in the metadata of an autograded notebook: its remarks


class TolerantExporter(NotebookExporter):
    """nbconvert's exporter to notebooks. `nbgrader autograde` reads each submission twice with it.

    The first reading shows what the student submitted; the second is of the notebook that the first wrote. Neither
    raises because of a submission: nbgrader would discard it, or even end its run.
    """

    def from_filename(self, filename: str, resources: Any = None, **kw: Any) -> Any:
        path = Path(filename)
        resources = {} if resources is None else resources
        resources["metadata"] = {"name": path.stem, "path": str(path.parent)}
        resources[REMARKS] = []
        try:
            if self._grades():
                book, resources[REMARKS] = _autograded(path)
            else:
                book, resources[REMARKS], resources[IS_NOTEBOOK] = _shown(path)
            return self.from_notebook_node(book, resources=resources, **kw)
        except Exception as error:
            self.log.exception("%s", filename)
            says = _("The submission is not shown here, because this error occurred: {error}")
            why = says.format(error=type(error).__name__)
            resources[REMARKS], resources[IS_NOTEBOOK] = [*resources[REMARKS], why], False
            return self.from_notebook_node(_saying(why), resources=resources, **kw)

    def _grades(self) -> bool:
        """Whether this is the second of the two readings."""
        return any(getattr(step, "grades", False) for step in self._preprocessors)


def _shown(path: Path) -> tuple[NotebookNode, list[str], bool]:
    """Return a notebook with what a student submitted, the newest file first; remarks; and whether that is a notebook."""
    files = sorted(submitted(path), key=lambda file: (bool(file.problem), -file.modified))
    remarks = [file.remark for file in files if file.remark]
    if len(files) == 1:
        remarks = [*filter(None, [graded_as(files[0], path)]), *remarks]
    first, *others = map(_book, files)
    for number, (file, (book, _replaced)) in enumerate(zip(files[1:], others, strict=True)):
        first[0].cells.append(nbformat.v4.new_markdown_cell(f"`{file.submission}`"))
        for cell in book.cells:
            cell.metadata.pop(
                "nbgrader", None
            )  # only the cells of the first file are those of the assignment
            cell.id = f"{number}-{cell.id}"
            first[0].cells.append(cell)
    return first[0], [*remarks, *first[1]], files[0].file.suffix == ".ipynb"


def _book(file: SubmittedFile) -> tuple[NotebookNode, list[str]]:
    """Return a notebook that shows a file or says why that is not possible, and remarks."""
    if file.problem:
        return _saying(file.problem), []
    try:
        fields, remarks = bounded(plain, file.file, file.read)
    except Blocked as blocked:
        return _saying(str(blocked)), []
    return nbformat.from_dict(fields), remarks


def _autograded(path: Path) -> tuple[NotebookNode, list[str]]:
    """Return the notebook that the first reading wrote, and its remarks."""
    book, remarks = _book(SubmittedFile("", path.name, partial(read_bytes, path), 0.0))
    return book, [*book.metadata.get(NOTES, ()), *remarks]


_reader = BoundedReader()
atexit.register(_reader.close)


def bounded(read: Callable[..., T], path: Path, *more: Any) -> T:
    """Call `read(path, *more)` in a process with a memory limit and a time limit.

    Raises Blocked beyond a limit and after an unexpected exception, and any GraderError that `read` raises.
    """
    try:
        return _reader.call(read, path, *more)
    except Unreadable as why:
        raise Blocked(_("{file} {reason}").format(file=shown(path), reason=why)) from None


def _saying(text: str) -> NotebookNode:
    """Return a notebook with this text as its only cell."""
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text.replace("<", "&lt;"))])

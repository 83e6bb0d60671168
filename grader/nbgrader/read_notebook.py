"""nbconvert's exporter for submissions: a file that is no notebook becomes one that states the problem."""

from __future__ import annotations

import atexit
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat.notebooknode import NotebookNode

from grader.classroom.bounded_reader import BoundedReader, Unreadable
from grader.intake.read import Blocked, shown
from grader.nbgrader.notebook_file import plain
from grader.nbgrader.renamed import Submitted, submitted
from grader.support.i18n import _

T = TypeVar("T")

# In nbconvert's resources:
PROBLEM = "headway_problem"  # why the file could not be read: its exercises are blocked
# Why the file cannot be graded, which costs no points: no file was chosen, or nbgrader or the grader failed.
FAULT = "headway_fault"
REMARKS = "headway_remarks"  # other sentences about the file, such as what was replaced in it


class TolerantExporter(NotebookExporter):
    """nbconvert's exporter to notebooks. `nbgrader autograde` reads each submission twice with it.

    The first reading, before the sanitizing preprocessors, does not raise: nbgrader would discard the submission.
    """

    def from_filename(self, filename: str, resources: Any = None, **kw: Any) -> Any:
        path = Path(filename)
        resources = {} if resources is None else resources
        resources["metadata"] = {"name": path.stem, "path": str(path.parent)}
        try:
            found = bounded(submitted, path) if self._sanitizes() else Submitted(path)
            if found.path is None:
                resources[FAULT] = found.problem
                return self.from_notebook_node(_saying(found.problem), resources=resources, **kw)
            fields, replaced = bounded(plain, found.path)
            resources[REMARKS] = [*found.remarks, *replaced]
            book = nbformat.from_dict(fields)
        except Blocked as blocked:
            resources[PROBLEM] = str(blocked)
            book = _saying(str(blocked))
        try:
            return self.from_notebook_node(book, resources=resources, **kw)
        except Exception as error:
            if not self._sanitizes():
                raise  # in the second reading, `Grade` handles all exceptions that a submission can cause
            self.log.exception("%s", filename)
            resources[FAULT] = _("the grader failed: {error}").format(error=type(error).__name__)
            return self.from_notebook_node(_saying(resources[FAULT]), resources=resources, **kw)

    def _sanitizes(self) -> bool:
        """Whether this is the first of two readings: that of the file in `submitted/`."""
        return any(getattr(step, "sanitizes", False) for step in self._preprocessors)


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

"""Read any submitted file, in a process with limits, as a notebook that nbgrader accepts."""

from __future__ import annotations

import atexit
import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat.notebooknode import NotebookNode

from grader.classroom.bounded_reader import BoundedReader
from grader.classroom.discover import SubmittedFile
from grader.intake.notebook import SURROGATE, cells_of, plain_python
from grader.intake.read import Blocked, read_bytes, shown, submission_from
from grader.nbgrader.submissions import graded_as, submitted
from grader.support.errors import BadData
from grader.support.i18n import _

KINDS = {
    "code": nbformat.v4.new_code_cell,
    "markdown": nbformat.v4.new_markdown_cell,
    "raw": nbformat.v4.new_raw_cell,
}
MAX_DEPTH = 60  # of a notebook's JSON; copying and validating recurse several frames per level


def plain(path: Path, read: Callable[[], bytes]) -> tuple[Any, list[str]]:
    """Call `readable`; return the notebook as JSON's own types, which pass through a pipe."""
    book, remarks = readable(path, read())
    return json.loads(json.dumps(book)), remarks


def readable(path: Path, data: bytes) -> tuple[NotebookNode, list[str]]:
    """Return a notebook that shows a file, and remarks on what was replaced in it.

    A notebook is repaired where it breaks the format. Of the path, only the name is used.
    Raises Blocked with a sentence.
    """
    submission_from(path, data)  # checks its size, its encoding, and that a notebook is JSON with cells
    text = data.decode("utf-8-sig")
    return _parsed(text) if path.suffix == ".ipynb" else (_script(text), [])


def _script(text: str) -> NotebookNode:
    import jupytext

    try:
        book = nbformat.v4.new_notebook(cells=jupytext.reads(text, fmt="py:percent").cells)
    except Exception:
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text)])
    for cell in book.cells:
        name = cell.metadata.get("exercise")
        cell.metadata = NotebookNode({"nbgrader": {"grade_id": name}} if isinstance(name, str) else {})
    return _newest(book)


def _parsed(text: str) -> tuple[NotebookNode, list[str]]:
    fields = json.loads(text)
    try:
        fields, replaced = without_surrogates(fields)
        book = _newest(nbformat.reads(json.dumps(fields) if replaced else text, as_version=4))
        nbformat.validate(book)
    except Exception:
        book, replaced = without_surrogates(_rebuilt(fields, text))
    remark = _("The notebook contained characters that are not valid Unicode. Each was replaced by \ufffd.")
    return book, [remark] if replaced else []


def _newest(book: NotebookNode) -> NotebookNode:
    """Return the notebook in the format in which cells have ids: the grader adds such cells."""
    book.nbformat, book.nbformat_minor = nbformat.v4.nbformat, nbformat.v4.nbformat_minor
    for place, cell in enumerate(book.cells):
        cell.id = f"cell-{place}"
    return book


def without_surrogates(value: Any, depth: int = 0) -> tuple[Any, bool]:
    """Replace lone surrogates, which UTF-8 cannot encode, in all texts of a JSON value; return whether there were any.

    Raises RecursionError for a value that is nested deeper than MAX_DEPTH.
    """
    if isinstance(value, str):
        return SURROGATE.subn("\ufffd", value)[0], bool(SURROGATE.search(value))
    if depth > MAX_DEPTH:
        raise RecursionError
    if isinstance(value, Mapping):
        keys = [without_surrogates(key, depth + 1) for key in value]
        parts = [without_surrogates(part, depth + 1) for part in value.values()]
        clean = {key: part for (key, _found), (part, _found) in zip(keys, parts, strict=True)}
        found = any(found for _part, found in (*keys, *parts))
        return nbformat.from_dict(clean) if isinstance(value, NotebookNode) else clean, found
    if isinstance(value, list | tuple):
        parts = [without_surrogates(part, depth + 1) for part in value]
        return [part for part, _found in parts], any(found for _part, found in parts)
    return value, False


def _rebuilt(fields: Mapping[str, Any], text: str) -> NotebookNode:
    """Rebuild a notebook that breaks its format from type, source and marks of each cell."""
    cells = fields.get("cells")
    if not isinstance(cells, list):  # format 3 and older
        return nbformat.v4.new_notebook(
            cells=[
                nbformat.v4.new_code_cell(plain_python(source))
                for _n, source, kind in cells_of(text)
                if not kind
            ]
        )
    return nbformat.v4.new_notebook(cells=[_cell(cell) for cell in cells if isinstance(cell, dict)])


def _cell(fields: Mapping[str, Any]) -> NotebookNode:
    source, metadata = fields.get("source", ""), fields.get("metadata")
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    role = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    kind = fields.get("cell_type")
    make = KINDS.get(kind if isinstance(kind, str) else "", nbformat.v4.new_raw_cell)
    cell = make(source if isinstance(source, str) else "")
    if isinstance(role, dict) and isinstance(role.get("grade_id"), str):
        marks = {key: value for key, value in role.items() if isinstance(value, str | int | float)}
        cell.metadata["nbgrader"] = NotebookNode(marks)
    return cell


# In nbconvert's resources:
REMARKS = "headway_remarks"  # sentences about the submitted files, such as which of them counts
IS_NOTEBOOK = "headway_notebook"  # whether the student submitted one: then repaired cells are reported
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
            cell.metadata.pop("nbgrader", None)  # only those of the first file are cells of the assignment
            cell.id = f"{number}-{cell.id}"
            first[0].cells.append(cell)
    return first[0], [*remarks, *first[1]], files[0].file.suffix == ".ipynb"


def _book(file: SubmittedFile) -> tuple[NotebookNode, list[str]]:
    if file.problem:
        return _saying(file.problem), []
    try:
        fields, remarks = _reader.call(plain, file.file, file.read)
    except Blocked as blocked:
        return _saying(str(blocked)), []
    except BadData as why:
        return _saying(_("{file} {reason}").format(file=shown(file.file), reason=why)), []
    return nbformat.from_dict(fields), remarks


def _autograded(path: Path) -> tuple[NotebookNode, list[str]]:
    book, remarks = _book(SubmittedFile("", path.name, partial(read_bytes, path), 0.0))
    return book, [*book.metadata.get(NOTES, ()), *remarks]


_reader = BoundedReader()
atexit.register(_reader.close)


def _saying(text: str) -> NotebookNode:
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text.replace("<", "&lt;"))])

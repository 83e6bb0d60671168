"""Read what was handed in, whatever it is: a file that is no notebook must not cost nbgrader its temper."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat.notebooknode import NotebookNode

from grader.intake.notebook import code_cells
from grader.intake.read import Blocked, shown, submission_from
from grader.support.i18n import _

PROBLEM = "headway_problem"  # in nbconvert's resources: why the file could not be read
KINDS = {
    "code": nbformat.v4.new_code_cell,
    "markdown": nbformat.v4.new_markdown_cell,
    "raw": nbformat.v4.new_raw_cell,
}


class Forgiving(NotebookExporter):
    """nbconvert's exporter to notebooks; a file that cannot be read becomes a notebook that says so."""

    def from_filename(self, filename: str, resources: Any = None, **kw: Any) -> Any:
        path = Path(filename)
        resources = {} if resources is None else resources
        resources["metadata"] = {"name": path.stem, "path": str(path.parent)}
        try:
            book = readable(path)
        except Blocked as blocked:
            resources[PROBLEM] = str(blocked)
            book = nbformat.v4.new_notebook(
                cells=[nbformat.v4.new_markdown_cell(str(blocked).replace("<", "&lt;"))]
            )
        return self.from_notebook_node(book, resources=resources, **kw)


def readable(path: Path) -> NotebookNode:
    """The notebook in a file, mended where it does not follow the format. Raises Blocked with a sentence."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Blocked(
            _("{file} cannot be read: {reason}").format(file=shown(path), reason=error.strerror)
        ) from None
    submission_from(path, data)  # its size, its encoding, that it is JSON and has cells
    text = data.decode("utf-8-sig")
    try:
        book = nbformat.reads(text, as_version=4)
        nbformat.validate(book)
        return book
    except Exception:
        return _rebuilt(text)


def _rebuilt(text: str) -> NotebookNode:
    """The cells of a notebook that breaks the rules of its format: types, sources and what nbgrader knows them by."""
    cells = json.loads(text).get("cells")
    if not isinstance(cells, list):  # a format of long ago
        return nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(source) for _number, source in code_cells(text)]
        )
    return nbformat.v4.new_notebook(cells=[_cell(cell) for cell in cells if isinstance(cell, dict)])


def _cell(fields: dict[str, Any]) -> NotebookNode:
    source, metadata = fields.get("source", ""), fields.get("metadata")
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    role = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    make = KINDS.get(str(fields.get("cell_type")), nbformat.v4.new_raw_cell)
    cell = make(source if isinstance(source, str) else "")
    if isinstance(role, dict):
        cell.metadata["nbgrader"] = nbformat.from_dict(role)
    return cell

"""Read any submitted file as a notebook.

This runs in a process with limits, so it does not import nbconvert, which takes a second.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode

from grader.intake.notebook import code_cells
from grader.intake.read import Blocked, read_bytes, shown, submission_from
from grader.support.i18n import _

KINDS = {
    "code": nbformat.v4.new_code_cell,
    "markdown": nbformat.v4.new_markdown_cell,
    "raw": nbformat.v4.new_raw_cell,
}
MAX_DEPTH = 60  # of a notebook's JSON; copying and validating recurse several frames per level
_SURROGATE = re.compile("[\ud800-\udfff]")


def plain(path: Path) -> tuple[Any, list[str]]:
    """Call `readable`; return the notebook as JSON's own types, which pass through a pipe."""
    book, remarks = readable(path)
    return json.loads(json.dumps(book)), remarks


def readable(path: Path) -> tuple[NotebookNode, list[str]]:
    """Return the notebook in a file, repaired where it breaks the format, and remarks on what was replaced.

    Raises Blocked with a sentence.
    """
    _refuse_link(path)
    try:
        data = read_bytes(path)
    except OSError as error:
        raise Blocked(
            _("{file} cannot be read: {reason}").format(file=shown(path), reason=error.strerror)
        ) from None
    submission_from(path, data)  # checks its size, its encoding, and that it is JSON with cells
    return _parsed(data.decode("utf-8-sig"))


def _refuse_link(path: Path) -> None:
    """Raise Blocked if the file, or one of the two folders above it, is a link: it may lead to another student's file.

    path: `submitted/NAME/ASSIGNMENT/file.ipynb`.
    """
    if any(place.is_symlink() for place in (path, *path.parents[:2])):
        raise Blocked(_("{file} is a symbolic link; submit the file itself").format(file=shown(path)))


def _parsed(text: str) -> tuple[NotebookNode, list[str]]:
    fields = json.loads(text)
    try:
        fields, replaced = without_surrogates(fields)
        book = nbformat.reads(json.dumps(fields) if replaced else text, as_version=4)
        nbformat.validate(book)
    except Exception:
        book, replaced = without_surrogates(_rebuilt(fields, text))
    remark = _("The notebook contained characters that are not valid Unicode. Each was replaced by \ufffd.")
    return book, [remark] if replaced else []


def without_surrogates(value: Any, depth: int = 0) -> tuple[Any, bool]:
    """Replace lone surrogates, which UTF-8 cannot encode, in all texts of a JSON value; return whether there were any.

    Raises RecursionError for a value that is nested deeper than MAX_DEPTH.
    """
    if isinstance(value, str):
        return _SURROGATE.subn("\ufffd", value)[0], bool(_SURROGATE.search(value))
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
    """Rebuild a notebook that breaks its format, from the type, the source and nbgrader's `grade_id` of each cell."""
    cells = fields.get("cells")
    if not isinstance(cells, list):  # format 3 and older
        return nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(source) for _number, source in code_cells(text)]
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
        cell.metadata["nbgrader"] = NotebookNode(grade_id=role["grade_id"])
    return cell

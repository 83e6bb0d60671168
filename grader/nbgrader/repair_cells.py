"""Repair nbgrader's marks (metadata) on the cells of a submitted notebook before nbgrader reads them.

The gradebook says which cells there are, what they are worth and which are locked; the submission never does.
No text that the student wrote is lost: a cell with unknown marks becomes an ordinary cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nbformat.notebooknode import NotebookNode
from nbgrader.api import Gradebook, Notebook
from nbgrader.preprocessors import NbGraderPreprocessor

from grader.nbgrader.notebook_file import IS_NOTEBOOK, KINDS, NOTES, REMARKS
from grader.support.i18n import _


class RepairCells(NbGraderPreprocessor):
    """The first preprocessor of both readings: take marks from the gradebook, put missing cells back.

    So each notebook has all cells that nbgrader needs, also one that only says why the file was not read.
    """

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        about = resources["nbgrader"]
        with Gradebook(about["db_url"]) as gradebook:
            released = released_cells(gradebook.find_notebook(about["notebook"], about["assignment"]))
        repairs = [*_marked(nb, released), *_put_back(nb, released)]
        remarks = [*resources.get(REMARKS, ()), *(repairs if resources.get(IS_NOTEBOOK) else ())]
        for sentence in remarks:
            self.log.warning("%s, %s: %s", about["student"], about["notebook"], sentence)
        nb.metadata[NOTES] = remarks
        return nb, resources


def released_cells(notebook: Notebook) -> dict[str, NotebookNode]:
    """Return the cells of the gradebook as they were released, by grade_id, in the order of the notebook."""
    points = {cell.name: float(cell.max_score) for cell in (*notebook.grade_cells, *notebook.task_cells)}
    grades = {cell.name for cell in notebook.grade_cells}
    solutions = {cell.name for cell in notebook.solution_cells}
    tasks = {cell.name for cell in notebook.task_cells}
    out = {}
    for cell in notebook.source_cells:
        role = {
            "schema_version": 3,
            "grade_id": cell.name,
            "grade": cell.name in grades,
            "solution": cell.name in solutions,
            "task": cell.name in tasks,
            "locked": bool(cell.locked),
            "cell_type": cell.cell_type,
            **({"points": points[cell.name]} if cell.name in points else {}),
            **({"checksum": cell.checksum} if cell.checksum else {}),
        }
        out[cell.name] = KINDS[cell.cell_type](cell.source or "")
        out[cell.name].metadata["nbgrader"] = NotebookNode(role)
    return out


def _marked(nb: NotebookNode, released: Mapping[str, NotebookNode]) -> list[str]:
    """If the gradebook has a cell, set the cell's marks from there; remove all other marks.

    If a cell has several copies, only the last copy gets marks, as the last definition counts.
    """
    remarks, seen = [], set()
    for place in reversed(range(len(nb.cells))):
        cell = nb.cells[place]
        marks = cell.metadata.pop("nbgrader", None)
        name = marks.get("grade_id") if isinstance(marks, dict) else None
        if not isinstance(name, str) or name not in released:
            continue
        if name in seen:
            remarks.append(
                _("The cell {name} is there more than once; the last one counts.").format(name=name)
            )
        else:
            seen.add(name)
            if cell.cell_type != released[name].cell_type:
                cell = nb.cells[place] = KINDS[released[name].cell_type](cell.source, id=cell.id)
            cell.metadata["nbgrader"] = released[name].metadata.nbgrader
    return remarks[::-1]


def _put_back(nb: NotebookNode, released: Mapping[str, NotebookNode]) -> list[str]:
    """Add missing graded cells, solution cells and tasks, each after the cell before it in the release."""
    remarks = []
    after = -1  # the place of the cell before
    for name, cell in released.items():
        role = cell.metadata.nbgrader
        places = [p for p, c in enumerate(nb.cells) if c.metadata.get("nbgrader", {}).get("grade_id") == name]
        if places:
            after = places[0]
        elif role.grade or role.solution or role.task:
            if role.solution:
                is_code = cell.cell_type == "code"
                cell.source = _("# this cell was missing") if is_code else _("*this cell was missing*")
            after += 1
            nb.cells.insert(after, cell)
            remarks.append(_("The cell {name} was missing and was put back.").format(name=name))
    return remarks

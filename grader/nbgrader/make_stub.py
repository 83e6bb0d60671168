"""Make the students' version of a solution cell: the course's own stub."""

from __future__ import annotations

from nbformat.notebooknode import NotebookNode
from nbgrader.preprocessors import ClearSolutions

from grader.support.stub import BEGIN, MarkerError, stub


class Stub(ClearSolutions):
    """ClearSolutions with the stubs of `grader build`, so that an answer that was not started is recognised.

    A solution at the top level, as in an exercise to repair code, becomes a comment: a `raise` would end the cell.
    """

    def _replace_solution_region(self, cell: NotebookNode, language: str) -> bool:
        if cell.cell_type != "code" or not any(line.strip() == BEGIN for line in cell.source.splitlines()):
            return bool(super()._replace_solution_region(cell, language))
        try:
            cell.source = stub(cell.source).rstrip("\n")
        except (MarkerError, SyntaxError):
            return bool(super()._replace_solution_region(cell, language))
        return True

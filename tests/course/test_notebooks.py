"""Every notebook runs from top to bottom in a real kernel: as released, and with its solutions in place."""

from pathlib import Path

import jupytext
import nbclient
import nbformat
import pytest
from helpers.command_line import HANGS_AFTER, ROOT

from grader.authoring.content import read_all

ASSIGNMENTS = read_all(ROOT / "solutions")

# Warnings of the kernel's own libraries.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:Proactor event loop:RuntimeWarning"),
]


def run(notebook: nbformat.NotebookNode, folder: Path) -> str:
    """Execute all cells and return what they print. Raises CellExecutionError if a cell fails."""
    client = nbclient.NotebookClient(
        notebook, timeout=HANGS_AFTER, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    client.execute()
    outputs = [o for cell in notebook.cells if cell.cell_type == "code" for o in cell.outputs]
    errors = [o for o in outputs if o.output_type == "stream" and o.name == "stderr"]
    assert not errors, errors
    return "".join(o.get("text", "") for o in outputs if o.output_type == "stream")


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)
def test_the_released_notebook_and_the_solutions_run(assignment, tmp_path):
    path = ROOT / "assignments" / assignment.name / f"{assignment.module}.ipynb"
    assert "is not written yet" in run(nbformat.read(path, as_version=4), tmp_path)
    assert "is not written yet" not in run(jupytext.reads(assignment.source, fmt="py:percent"), tmp_path)

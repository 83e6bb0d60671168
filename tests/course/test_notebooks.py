"""Every notebook has a cell that checks each exercise, and runs from top to bottom in a real kernel."""

import ast
import shutil
from itertools import pairwise
from pathlib import Path

import nbclient
import nbformat
import pytest
from helpers.command_line import HANGS_AFTER, ROOT, make_course

from grader.authoring.build import notebook
from grader.authoring.content import read_all
from grader.support.code import stub

ASSIGNMENTS = read_all(ROOT / "solutions")
# What the checks returned.
SCORES = "[float(value) for value in Out.values() if type(value).__name__ == 'Score']"

# Warnings of the kernel's own libraries.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:Proactor event loop:RuntimeWarning"),
]


def run(book: nbformat.NotebookNode, folder: Path) -> str:
    """Execute all cells and return what they print. Raises CellExecutionError if a cell fails."""
    client = nbclient.NotebookClient(
        book, timeout=HANGS_AFTER, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    )
    client.execute()
    outputs = [o for cell in book.cells if cell.cell_type == "code" for o in cell.outputs]
    errors = [o for o in outputs if o.output_type == "stream" and o.name == "stderr"]
    assert not errors, errors
    return "".join(o.get("text", "") for o in outputs if o.output_type == "stream")


@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)
def test_below_each_exercise_is_a_cell_that_checks_it(assignment):
    book = nbformat.reads(notebook(assignment.name, stub(assignment.source)), as_version=4)
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert code[0].source == "from grader import check"
    below = {a.metadata.headway: b.source for a, b in pairwise(book.cells) if "headway" in a.metadata}
    assert list(below.items()) == [(e.name, f'check("{e.name}")') for e in assignment.exercises]
    assert len({cell.id for cell in book.cells}) == len(book.cells)


@pytest.mark.slow
@pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=lambda a: a.name)
def test_the_released_notebook_and_the_solutions_run(assignment, tmp_path):
    folder = make_course(tmp_path / "course") / assignment.name
    points = [exercise.points for exercise in assignment.exercises]
    for weights in assignment.folder.glob("*.safetensors"):
        shutil.copy(weights, folder)
    for text, reached in ((stub(assignment.source), [0] * len(points)), (assignment.source, points)):
        book = nbformat.reads(notebook(assignment.name, text), as_version=4)
        book.cells.append(nbformat.v4.new_code_cell(SCORES))
        assert ("is not written yet" in run(book, folder)) == (text != assignment.source)
        assert ast.literal_eval(book.cells[-1].outputs[0].data["text/plain"]) == reached

"""`check(…)` in a real kernel: it grades the executed cells, shows the report, and returns the points.

Without a kernel: which cells are graded, and the files beside the notebook that are used.
"""

import ast

import nbclient
import nbformat
import pytest
from helpers import command_line
from helpers.command_line import HANGS_AFTER, ROOT, make_course
from nbformat import NotebookNode
from nbgrader.utils import determine_grade

from grader.intake.course import find
from grader.student import notebook_check
from grader.student.notebook_check import executed_units

RIGHT, WRONG = (answer.partition("\n")[2] for answer in (command_line.RIGHT, command_line.WRONG))
CHECK = 'check("transpose_qkv")'

# Warnings of the kernel's own libraries.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:Proactor event loop:RuntimeWarning"),
]

# Name of a cell → its source, in the order in which the kernel executes the cells.
CELLS = {
    "nothing yet": CHECK,
    "nothing at all": "check()",
    "import": "import torch",
    "a wrong answer": WRONG,
    "wrong": CHECK,
    "kept": f"score = {CHECK}",
    "twice in one cell": f"{CHECK}; {CHECK}",
    "in a loop": "for name in 2 * ['transpose_qkv']:\n    check(name)",
    "shown again": "score",
    "as a number": "round(score / 3, 3), isinstance(score, float)",
    "fixed, timed": "%%capture\n" + RIGHT,
    "right": CHECK,
    "by the function": "check(transpose_qkv)",
    "everything": "check()",
    "a typing error": 'check("transpose_qvk")',
    "hostile": "import sys\ndef transpose_qkv(X, num_heads):\n    print('no', file=sys.stderr)\n    sys.exit(1)\n",
    "stopped": CHECK,
    "wrong again": WRONG,
    "as nbgrader does": f"import os; os.environ['NBGRADER_EXECUTION'] = 'autograde'; {CHECK}",
    "values": "{count: float(value) for count, value in Out.items() if isinstance(value, float)}",
}


@pytest.fixture(scope="module")
def cells() -> dict[str, nbformat.NotebookNode]:
    """Execute CELLS in one kernel. Return name → the executed cell."""
    sources = ["from grader import check", *CELLS.values()]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    client = nbclient.NotebookClient(
        book,
        timeout=HANGS_AFTER,
        kernel_name="python3",
        resources={"metadata": {"path": str(ROOT / "assignments" / "04_heads")}},
    )
    client.execute()  # raises the exception of the first cell that fails
    return dict(zip(CELLS, book.cells[1:], strict=True))


@pytest.mark.slow
def test_a_module_beside_the_notebook_is_used(tmp_path, monkeypatch):
    folder = make_course(tmp_path / "course", "04_heads") / "04_heads"
    (folder / "pieces.py").write_text(RIGHT.replace("transpose_qkv", "split"))
    monkeypatch.chdir(folder)
    source = "from pieces import split\ndef transpose_qkv(X, num_heads):\n    return split(X, num_heads)"
    monkeypatch.setattr(notebook_check, "_history", lambda: ["", source])
    grader = notebook_check._NotebookGrader()
    try:
        report = grader.grade("transpose_qkv")
    finally:
        grader.close()
    assert report.exit_status == 0
    assert any("pieces.py" in remark for remark in report.remarks)


def value(cell) -> str:
    """Return what a cell shows as its value."""
    (result,) = (o for o in cell.outputs if o.output_type == "execute_result")
    return result["data"]["text/plain"]


def shown(cell, mime: str = "text/plain") -> str:
    """Return the report that a cell shows."""
    (displayed,) = (o for o in cell.outputs if o.output_type == "display_data")
    return displayed["data"][mime]


@pytest.mark.slow
def test_check_returns_the_points(cells):
    values = ast.literal_eval(value(cells["values"]))  # execution count → points
    points = {name: values.get(cell.execution_count) for name, cell in cells.items()}
    assert 0 < points["wrong"] < 3
    for name in ("nothing yet", "nothing at all", "stopped", "a typing error"):
        assert points[name] == 0, name
    for name in ("right", "by the function", "everything"):
        assert points[name] == 3, name
    assert value(cells["as a number"]) == str((round(points["wrong"] / 3, 3), True))


@pytest.mark.slow
def test_a_cell_shows_each_report_once_and_no_number(cells):
    counts = {"wrong": 1, "kept": 1, "twice in one cell": 2, "in a loop": 2, "shown again": 1, "right": 1}
    for name, count in counts.items():
        assert [o.output_type for o in cells[name].outputs] == ["display_data"] * count, name
    assert shown(cells["shown again"], "text/html") == shown(cells["kept"], "text/html")


@pytest.mark.slow
def test_nbgrader_reads_the_points_of_a_cell(cells):
    cell = cells["as nbgrader does"]
    mark = NotebookNode(grade=True, solution=False, points=3, grade_id="check-transpose_qkv")
    graded = NotebookNode({**cell, "metadata": NotebookNode(nbgrader=mark)})
    values = ast.literal_eval(value(cells["values"]))
    assert determine_grade(graded) == (values[cells["wrong"].execution_count], 3)


@pytest.mark.slow
def test_the_cell_shows_the_report(cells):
    for mime in ("text/plain", "text/html"):
        report = shown(cells["nothing yet"], mime)
        assert "not defined in this notebook" in report
        assert "Run the cell that defines transpose_qkv, then this cell again." in report
        assert "known mistake" in shown(cells["wrong"], mime)
        assert "transpose_qkv" in shown(cells["everything"], mime)
        assert "defines no exercise yet; execute the cells" in shown(cells["nothing at all"], mime)
        assert "did you mean transpose_qkv?" in shown(cells["a typing error"], mime)
        assert "hidden cases were not used" in shown(cells["as nbgrader does"], mime)
        assert "hidden cases were not used" not in shown(cells["right"], mime)
    assert "Run the cell" not in shown(cells["wrong"])
    assert "public cases" in shown(cells["right"], "text/html")


@pytest.mark.slow
def test_the_plain_report_is_short(cells):
    assert shown(cells["wrong"]).count("\n") < 20
    assert "transpose_qkv" in shown(cells["wrong"]).partition("\n")[0]


@pytest.mark.slow
def test_no_cell_writes_to_stderr_or_has_escape_codes(cells):
    for cell in cells.values():
        assert not [o for o in cell.outputs if o.output_type == "stream"]
        assert "\x1b" not in str(cell.outputs)


def test_outside_a_course_the_cell_says_where_to_go(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(notebook_check, "_history", lambda: [""])
    assert notebook_check.check("transpose_qkv") == 0.0
    shown = capsys.readouterr().out
    assert "headway.toml" in shown
    assert "could not be graded" not in shown


def test_only_the_last_version_of_a_cell_is_graded_and_no_call_of_check():
    both = f"{CHECK}; check()"
    history = ["", "import torch", WRONG, CHECK, "def f(:", RIGHT, both, RIGHT, CHECK, "x = 1", CHECK]
    units = executed_units(history)
    # Of equal cells, the first and the last run are kept, but RIGHT defines the same name again.
    assert [unit.name for unit in units] == ["cell [1]", "cell [7]", "cell [9]"]


def test_a_version_that_a_later_cell_uses_is_graded_too():
    history = ["", "class A: pass", "class B(A): pass", "class A:\n    x = 1"]
    assert len(executed_units(history)) == 3


def test_parts_are_found_if_an_earlier_exercise_is_checked_too(tmp_path, engine):
    """Parts are the student's code from earlier assignments, from which `train` of the capstone is built."""
    course = make_course(tmp_path / "course")
    (course / "04_heads" / "heads.py").write_text(RIGHT, "utf-8")
    parts = notebook_check._NotebookGrader()._parts(engine, find(course), ["transpose_qkv", "train"])
    assert [dict(part.names) for part in parts] == [{"transpose_qkv": "transpose_qkv"}]

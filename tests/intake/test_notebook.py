"""The code of a notebook as plain Python, with the same line numbers."""

import ast
import json

import pytest

from grader.intake.notebook import cells_of, plain_python


def cells(*found, **book):
    return code_cells({"cells": list(found), "nbformat": 4, **book})


def code_cells(book):
    return [(number, source) for number, source, kind in cells_of(json.dumps(book)) if not kind]


def test_code_cells_of_format_4_are_read_in_order():
    assert cells(
        {
            "cell_type": "code",
            "source": "x = 1",
            "outputs": [{"text": "y = 2"}],
            "metadata": {"source": "z = 3"},
        },
        {"cell_type": "raw", "source": "y = 2"},
        {"cell_type": "code", "source": ["a = 1\n", "b = 2"]},
    ) == [(1, "x = 1"), (3, "a = 1\nb = 2")]


@pytest.mark.parametrize("kind", ["markdown", "raw", "code"])
def test_a_cell_that_was_released_for_code_is_code(kind):
    marks = {"cell_type": "code", "solution": True}
    task = {"cell_type": "markdown", "solution": True}
    assert cells(
        {"cell_type": kind, "source": "x = 1", "metadata": {"nbgrader": marks}},
        {"cell_type": "markdown", "source": "an answer", "metadata": {"nbgrader": task}},
        {"cell_type": "markdown", "source": "z", "metadata": [marks]},
        {"cell_type": "markdown", "source": "z", "metadata": {"nbgrader": [marks]}},
    ) == [(1, "x = 1")]


def test_cells_that_only_check_are_left_out():
    checks = ['check("a")', "\ncheck('a'); check(b)\n check()", "check(a)\nx = 1", "score = check()", ""]
    found = cells(*({"cell_type": "code", "source": source} for source in checks))
    assert found == [(3, checks[2]), (4, checks[3]), (5, "")]


def test_half_a_character_becomes_a_replacement_character():
    assert cells({"cell_type": "code", "source": "x = 1  # \ud800"}) == [(1, "x = 1  # \ufffd")]


def test_cells_of_format_3_are_read_from_worksheets():
    book = {
        "nbformat": 3,
        "worksheets": [
            {"cells": [{"cell_type": "code", "input": ["x = 1\n", "y = 2"]}]},
            {"cells": [{"cell_type": "code", "input": "z"}]},
        ],
    }
    assert code_cells(book) == [(1, "x = 1\ny = 2"), (2, "z")]


@pytest.mark.parametrize(
    "book",
    [
        {"worksheets": [{"cells": 5}, {"cells": None}, 5, {}]},
        {"cells": [5, None, "x", {"cell_type": ["code"]}, {}]},
    ],
)
def test_malformed_parts_of_a_notebook_are_left_out(book):
    assert code_cells(book) == []


@pytest.mark.parametrize("source", [5, None, {"a": 1}, [1, 2]])
def test_a_source_that_is_no_text_is_empty(source):
    assert cells({"cell_type": "code", "source": source}) == [(1, "")]


@pytest.mark.parametrize(
    ("line", "plain"),
    [
        ("%matplotlib inline", "pass"),
        ("!pip install d2l", "pass"),
        ("    !ls", "    pass"),
        ("    %time f(x)", "    pass"),
        ("torch.nn.Linear?", "pass"),
        ("X[0]??", "pass"),
        ("?print", "pass"),
        ("files = !ls", "files = None"),
        ("a, b = %time f(x)", "a, b = None"),
        ("%%time", "pass"),
    ],
)
def test_lines_that_only_a_notebook_can_run_are_replaced(line, plain):
    block = line.startswith(" ")
    cell = ("if True:\n" if block else "x = 1\n") + line + "\ny = 2"
    assert plain_python(cell) == cell.replace(line, plain)
    ast.parse(plain_python(cell))


@pytest.mark.parametrize(
    "magic",
    ["bash", "sh", "html", "javascript", "latex", "writefile x.txt", "file", "R", "cython", "sql select"],
)
def test_a_cell_of_another_language_becomes_empty_lines(magic):
    plain = plain_python(f"\n%%{magic}\nls -l | grep x\necho 'it''s'")
    assert plain.strip() == ""
    assert plain.count("\n") == 3


STRING = 'text = """\n%matplotlib inline\n!not a command\nhelp?\nx = !ls\n"""'


@pytest.mark.parametrize(
    ("cell", "plain"),
    [
        (STRING, STRING),
        ("%matplotlib inline\n" + STRING + "\n!ls\n    ", "pass\n" + STRING + "\npass\n    "),
        ("!ls\nx = (7\n%b)", "pass\nx = (7\n%b)"),
        ("!pip install a \\\n    b \\\n    c\nx = 1", "pass\n\n\nx = 1"),
        ("!ls\nx = = 1\n%time", "pass\nx = = 1\npass"),
        ("!ls\n" * 100 + "x = 1", "pass\n" * 100 + "x = 1"),
        ("x = 1\r\ny\0 = 2\r\nz = 3\rw = 4", "x = 1\ny = 2\nz = 3\nw = 4"),
        *(
            (f"%%{magic}\nx = 1", "pass\nx = 1")
            for magic in ("timeit -n 3", "capture out", "wandb", "prun", "writefile -a x.py", 'file "x.py"')
        ),
        ("%%time\nx = = 1", "pass\nx = = 1"),
    ],
)
def test_all_other_lines_of_a_cell_stay(cell, plain):
    assert plain_python(cell) == plain


@pytest.mark.parametrize("source", ["(" * 10_000, "x = '\ud800'", "-" * 100_000 + "1", "", "\n", "\\"])
def test_any_cell_can_be_read(source):
    assert plain_python("!ls\n" + source).startswith("pass")

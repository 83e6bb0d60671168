"""One definition is restored to the released stub, and nothing else is changed."""

import json

import pytest

from grader.intake.own_code import restored
from grader.support.errors import UsageError

STUB = "import torch\n\n\ndef f(x):\n    raise NotImplementedError\n\n\nclass G:\n    size = 0\n"
MINE = "import math\n\n\n@staticmethod\ndef f(x):\n    return x  # mine\n\n\nother = 1\n"
REST = "def f(x):\n    raise NotImplementedError\n"
DONE = f"import math\n\n\n{REST}\n\nother = 1\n"


@pytest.mark.parametrize(
    ("text", "name", "after"),
    [
        (MINE, "f", DONE),
        (MINE + MINE, "f", f"{DONE}import math\n\n\n\n\nother = 1\n"),  # of two, one is left
        ("x = 1\n", "G", "x = 1\n\n\nclass G:\n    size = 0\n"),
        (" \n", "f", STUB),
        # Characters that end no line in Python.
        *((f"{line}\n{MINE}", "f", f"{line}\n{DONE}") for line in ("\x0c", 'x = "\u2028"', 'x = "\x85\x1c"')),
        ("x = 1\r\n\r\ndef f(x):\r\n    return 1\r\n\r\nz = 2\r\n", "f", f"x = 1\r\n\r\n{REST}\r\nz = 2\r\n"),
        ("x = 1\rdef f(x):\r    return 1\rz = 2\r", "f", f"x = 1\r{REST}z = 2\r"),
    ],
)
def test_one_definition_is_replaced_with_its_decorators(text, name, after):
    assert restored(text, name, STUB, notebook=False) == after


def test_the_error_names_the_line_of_a_file_that_does_not_parse():
    with pytest.raises(UsageError, match=r"does not parse \(line 2: "):
        restored("x = 1\ny = = 2\n", "f", STUB, notebook=False)


def book(*cells):
    return json.dumps({"cells": list(cells), "metadata": {"kept": True}})


def test_in_a_notebook_only_the_cell_of_the_definition_changes():
    text = book(
        {"cell_type": "markdown", "source": "def f"},
        {"cell_type": "code", "source": ["x = 1\n", "def f(x):\n", "    return 1"]},
    )
    changed = json.loads(restored(text, "f", STUB, notebook=True))
    assert changed["metadata"] == {"kept": True}
    assert [cell["source"] for cell in changed["cells"]] == [
        "def f",
        "x = 1\ndef f(x):\n    raise NotImplementedError",
    ]


def test_a_cell_that_does_not_parse_is_found_by_its_metadata():
    cell = {"cell_type": "code", "source": "def f(x:\n", "metadata": {"headway": "f"}}
    changed = json.loads(restored(book(cell), "f", STUB, notebook=True))
    assert changed["cells"][0]["source"] == "def f(x):\n    raise NotImplementedError"


@pytest.mark.parametrize(
    "text",
    ["no json", "{}", book({}), book({"cell_type": "code"}), book({"cell_type": "code", "source": [1]})],
)
def test_a_notebook_that_cannot_be_read_is_left_alone(text):
    with pytest.raises(UsageError, match="fresh copy"):
        restored(text, "f", STUB, notebook=True)


def test_a_cell_with_malformed_metadata_is_skipped():
    malformed = {"cell_type": "code", "source": "def g(x:\n", "metadata": 5}
    cell = {"cell_type": "code", "source": "def f(x): return 1"}
    changed = json.loads(restored(book(malformed, cell), "f", STUB, notebook=True))
    assert changed["cells"][0] == malformed
    assert changed["cells"][1]["source"] == "def f(x):\n    raise NotImplementedError"

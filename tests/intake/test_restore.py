"""One definition is restored to the released stub, and nothing else is changed."""

import json

import pytest

from grader.intake.stub_changes import CannotRestore, restored

STUB = "import torch\n\n\ndef f(x):\n    raise NotImplementedError\n\n\nclass G:\n    size = 0\n"
MINE = "import math\n\n\n@staticmethod\ndef f(x):\n    return x  # mine\n\n\nother = 1\n"


def test_a_definition_is_replaced_with_its_decorators():
    text = restored(MINE, "f", STUB, notebook=False)
    assert text == "import math\n\n\ndef f(x):\n    raise NotImplementedError\n\n\nother = 1\n"


def test_of_two_definitions_one_is_left():
    assert restored(MINE + MINE, "f", STUB, notebook=False).count("def f") == 1


def test_a_definition_that_is_gone_is_put_at_the_end():
    assert restored("x = 1\n", "G", STUB, notebook=False) == "x = 1\n\n\nclass G:\n    size = 0\n"


def test_an_empty_file_becomes_the_stub():
    assert restored(" \n", "f", STUB, notebook=False) == STUB


@pytest.mark.parametrize("first_line", ["\x0c", 'text = "\u2028"', 'text = "\x85\x1c"'])
def test_characters_that_end_no_line_in_python_move_nothing(first_line):
    text = restored(f"{first_line}\n{MINE}", "f", STUB, notebook=False)
    assert text == f"{first_line}\n" + restored(MINE, "f", STUB, notebook=False)


def test_the_error_names_the_line_of_a_file_that_does_not_parse():
    with pytest.raises(CannotRestore, match=r"does not parse \(line 2: "):
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
    with pytest.raises(CannotRestore, match="fresh copy"):
        restored(text, "f", STUB, notebook=True)


def test_a_cell_with_malformed_metadata_is_skipped():
    malformed = {"cell_type": "code", "source": "def g(x:\n", "metadata": 5}
    cell = {"cell_type": "code", "source": "def f(x): return 1"}
    changed = json.loads(restored(book(malformed, cell), "f", STUB, notebook=True))
    assert changed["cells"][0] == malformed
    assert changed["cells"][1]["source"] == "def f(x):\n    raise NotImplementedError"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_only_the_definition_is_replaced_with_any_line_ends(end):
    text = end.join(("import os", "", "def f(x):", "    return 1", "", "z = 2", ""))
    found = restored(text, "f", STUB, notebook=False)
    assert found.startswith(f"import os{end}{end}")
    assert found.endswith(f"{end}z = 2{end}")
    assert "return 1" not in found

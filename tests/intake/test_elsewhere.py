"""Definitions of exercises at places that are not graded."""

import json
from pathlib import Path

import pytest

from grader.intake.elsewhere import MOST_TRIED, elsewhere
from grader.intake.names import read_names
from grader.intake.read import submission_from

CODE = "def masked_softmax(X,\n    valid_lens\n):\n    if X:\n        return 1\n\n    return X"


def found(name, text):
    """Return place, name of what it is in, and lines, of each definition of masked_softmax or kernel_regression."""
    submission = submission_from(Path(name), text.encode())
    places = elsewhere(submission, read_names(submission), ("masked_softmax", "kernel_regression"))
    return [(one.place, one.where, one.line, one.end) for one in places]


def marked(mark, code=CODE):
    return "\n".join(f"{mark}{line}" for line in code.split("\n"))


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (marked("# "), ("comments", "", 2, 8)),
        (marked("#"), ("comments", "", 2, 8)),
        (f"if x:\n{marked('    # ')}\n    y = 1", ("comments", "", 3, 9)),
        (f"""'''\n{CODE}\n'''""", ("string", "", 3, 9)),
        (f"def main():\n    x = 1\n{marked('    ')}\n    main()", ("inside", "main", 4, 10)),
        (f"class A:\n    class B:\n{marked('        ')}", ("inside", "A", 4, 10)),
        ("class NWKernelRegression:\n    x = 1", ("book", "", 2, 3)),
    ],
)
def test_a_definition_in_a_script_is_found(text, place):
    assert found("a.py", f"import torch\n{text}\n") == [place]


@pytest.mark.parametrize(
    ("cell", "places"),
    [
        ({"cell_type": "markdown", "source": f"So:\n{CODE}"}, [("markdown", "", 2, 8)]),
        ({"cell_type": "raw", "source": CODE}, [("raw", "", 1, 7)]),
        (
            {"cell_type": "code", "source": f"%%script python\n{CODE}"},
            [("magic", "%%script python", 2, 8)],
        ),
        (
            {"cell_type": "code", "source": f"%%writefile x.txt\n{CODE}"},
            [("magic", "%%writefile x.txt", 2, 8)],
        ),
        ({"cell_type": "code", "source": f"%%writefile x.py\n{CODE}"}, []),  # it is read
    ],
)
def test_a_definition_in_a_cell_that_is_not_read_is_found(cell, places):
    assert found("a.ipynb", json.dumps({"cells": [cell]})) == places


@pytest.mark.parametrize(
    "text", [CODE, marked("> "), f"```text\n{CODE}\n```", f">>> {marked('... ', CODE)[4:]}"]
)
def test_a_definition_in_the_text_of_notes_is_found(text):
    fence = text.startswith("`")
    assert found("a.txt", f"Notes\n{text}\n\nmore\n") == [("notes", "", 2 + fence, 8 + fence)]


@pytest.mark.parametrize(
    "text",
    [
        CODE,
        f"if True:\n{marked('    ')}",
        "# def masked_softmax(X, valid_lens) gives weights\n#   a row sums to 1",
        "# def masked_softmax(X, valid_lens): ...",
        "# def masked_softmax(X, valid_lens):\n# gives weights",
        f"# class other: x\n{marked('# ').replace('masked', 'other')}",
    ],
)
def test_what_is_graded_and_what_is_no_definition_is_not_found(text):
    assert found("a.py", text) == []


def test_only_the_first_place_counts_and_not_every_line_is_tried():
    assert found("a.py", f"{marked('# ')}\ndef f():\n{marked('    ')}") == [("comments", "", 1, 7)]
    assert found("a.py", "# def masked_softmax(:\n" * MOST_TRIED + marked("# ")) == []

"""Of several definitions of an exercise in a file from elsewhere, the best one is graded; in a course, the last one."""

import json

import pytest

from grader.student.check import check

RIGHT = """def kernel_attention_weights(queries, keys, w=1.0):
    return torch.softmax(-((queries[:, None] - keys) * w) ** 2 / 2, dim=-1)
"""
HALF = RIGHT.replace(" * w", "")
NONE = RIGHT.replace("return", "assert queries is None and")
IMPORT = "import torch\n"


@pytest.mark.parametrize(
    ("cells", "graded", "says"),
    [
        (
            (RIGHT, NONE),
            "passed",
            "the one in cell 1, line 2 was graded; points of the others: cell 2, line 2: 0 / ",
        ),
        (
            (NONE, RIGHT),
            "passed",
            "the one in cell 2, line 2 was graded; points of the others: cell 1, line 2: 0 / ",
        ),
        (
            (NONE, HALF, NONE + "x = 1"),
            "failed",
            "the one in cell 2, line 2 was graded; points of the others: cell 3, ",
        ),
        ((RIGHT, RIGHT), "passed", ""),
    ],
)
def test_the_best_definition_is_graded_and_the_others_are_named(
    tmp_path, shared_launcher, cells, graded, says
):
    sources = [{"cell_type": "code", "source": IMPORT + cell} for cell in cells]
    file = tmp_path / "notes.ipynb"
    file.write_text(json.dumps({"cells": sources}))
    (result,) = check((), shared_launcher, file=file, quiet=True).exercises
    assert result.outcome == graded
    assert says in "".join(result.remarks[-1:])
    assert bool(says) == bool(result.remarks)

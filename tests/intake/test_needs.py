"""The names of a file that a definition needs, and customary names, such as `F`, that it uses without defining them."""

from pathlib import Path

import pytest
from helpers.minimal import submission_of

from grader.intake.names import read_names
from grader.intake.read import Submission, Unit
from grader.intake.uses import IMPORTS, missing_imports, needs, units_to_run

SOURCE = """
import math
size = 3

def inner(x):
    global counter
    counter = x
    return math.sqrt(x) + size

class A(Base):
    width = size

    def forward(self, queries, keys=default):
        output = inner(queries)
        scores, state = [k for k in keys], (lambda y: y + z)
        return output

output = state = 5
"""


def needed(name, source=SOURCE):
    submission = submission_of(source)
    return needs(read_names(submission), name)


def test_needs_are_the_names_of_the_file_used_directly_or_indirectly():
    assert {"Base", "default", "inner", "math", "size", "counter", "z"} <= needed("A")
    assert needed("A").isdisjoint({"output", "state", "scores", "k", "keys", "queries", "x", "y"})
    assert "size" in needed("f", "def f():\n    return " + "-" * 80 + "size\n")  # a deep expression


def missing(*sources):
    units = tuple(Unit(f"cell {number}", source) for number, source in enumerate(sources, 1))
    return tuple(missing_imports(Submission(Path("a.ipynb"), units), ["masked_softmax"]))


@pytest.mark.parametrize(
    "bound",
    [
        "import math",
        "from x import math",
        "import y as math",
        "math = 1",
        "def math(): ...",
        "def f(math): ...",
        "for math in x: ...",
        "with x as math: ...",
        "try: ...\nexcept E as math: ...",
        "(math := 1)",
        "[math for math in x]",
        "match x:\n    case {**math}: ...",
        "match x:\n    case [*math]: ...",
        "from maths import *",
    ],
)
def test_a_name_that_is_bound_anywhere_is_not_missing(bound):
    assert missing("math.sqrt(2)", bound) == ()


def test_a_building_block_is_offered_where_it_is_not_defined():
    assert missing("def f(X):\n    return masked_softmax(X, None)") == ("masked_softmax",)
    assert missing("def masked_softmax(X, lens): ...", "masked_softmax(X, None)") == ()


@pytest.mark.parametrize("name", IMPORTS)
def test_each_import_binds_its_name(name):
    unit, _own = units_to_run(submission_of(f"{name}.x"))
    assert unit.source == IMPORTS[name]
    assert missing(unit.source, f"{name}.x") == ()

"""The names of a file that a definition needs."""

from pathlib import Path

from grader.intake.names import read_names
from grader.intake.needs import needs
from grader.intake.read import Submission, Unit

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
    submission = Submission(Path("a.py"), (Unit("a.py", source),))
    return needs(submission, read_names(submission), name)


def test_needs_are_the_names_used_directly_or_indirectly():
    assert {"Base", "default", "inner", "math", "size", "counter", "z"} <= needed("A")


def test_variables_of_a_function_are_not_those_of_the_file():
    assert needed("A").isdisjoint({"output", "state", "scores", "k", "keys", "queries", "x", "y"})


def test_a_deep_expression_is_read():
    assert "size" in needed("f", "def f():\n    return " + "-" * 80 + "size\n")

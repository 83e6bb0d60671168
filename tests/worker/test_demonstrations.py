"""Names that only demonstrations set are not there while an exercise is graded; every other name stays."""

import pytest

from grader.worker.load import Files, load

HEAD = """
import math, functools, logging
from collections import namedtuple
import torch
from torch import nn
def own(*args): return 3.0
def make(): return functools.partial(own, 1)
def put():
    global placed
    placed = 5
class Own(nn.Module): ...
"""


def after(source, **options):
    """Return what a file defines while an exercise is graded, and which names were removed, with their lines."""
    loaded = load(Files(units=[{"name": "a.py", "source": HEAD + source}], given={}, **options))
    assert loaded.notes == []
    return loaded.names, loaded.removed


@pytest.mark.parametrize(
    "statement",
    [
        "x = 3",
        "x: int = 3",
        "x = float('-inf')",
        "x = torch.tensor(-1e9)",
        "x = torch.tensor([-1e9])",
        "x = torch.device('cpu')",
        "x = logging.getLogger('a')",
        "x = (1, 'a', [2.0], {'b': None})",
        "x = nn.GELU()",
        "x = own",
        "x = Own",
        "x = make()",
        "x = lambda q: own(q)",
        "x = namedtuple('x', 'a b')",
        "x = torch.ones(2, 3).shape[0]",
        "x, y = 3, torch.ones(4)",
        "with torch.no_grad(): x = 3",
        "if True: x = 3\nelse: x = own()",
        "try: x = 3\nexcept ImportError: x = own()",
        "x = torch.ones(4)\nx = 3",
        "for x in range(2): pass\nx = 1",
        "for i in range(2):\n    def x(): ...",
        "for i in range(2):\n    import math as x",
        "x = own()\nfrom math import pi as x",
    ],
)
def test_definitions_imports_and_plain_assignments_stay(statement):
    names, removed = after(statement)
    assert "x" in names
    assert "x" not in removed


@pytest.mark.parametrize(
    "statement",
    [
        "x = torch.ones(4)",
        "x, y = torch.ones(4), torch.ones(4)",
        "x = [torch.ones(4)]",
        "x = {'a': (1, torch.ones(4))}",
        "x = nn.LazyLinear(2)",
        "x = own()",
        "x = [own() for _ in range(2)]",
        "x = Own()",
        "x = make()()",
        "(x := own())",
        "x = 'a' if own() else 'b'",
        "x = Own().training",
        "for x in range(3): pass",
        "for i in range(3): x = i",
        "for i in range(3):\n    with torch.no_grad(): x = i",
        "x = 0\ndel x\nwhile True:\n    x = 1\n    break",
        "with torch.no_grad(): x = torch.ones(4)",
        "if True: x = own()",
        "x = own()\nx += 1",
        "for x in range(3): y = [x for x in range(2)]\nz = [x for x in range(2)]",
    ],
)
def test_names_that_only_demonstrations_set_are_removed(statement):
    names, removed = after(statement)
    assert "x" not in names
    assert removed["x"][0] == "a.py"


def test_a_removed_name_has_the_line_of_the_last_demonstration():
    first = HEAD.count("\n") + 1
    _names, removed = after("x = torch.ones(4)\n\nfor i in range(2):\n    x = own()\n")
    assert removed == {"x": ("a.py", first + 2), "i": ("a.py", first + 2)}


def test_a_constant_has_the_value_from_before_the_demonstration():
    names, removed = after("x = 5\nx = own()\nfor x in range(9): pass\n")
    assert (names["x"], removed) == (5, {})


def test_a_name_that_a_called_function_sets_is_removed():
    names, removed = after("put()\n")
    assert "placed" not in names
    assert "placed" in removed


def test_the_names_of_exercises_stay():
    names, removed = after("x = Own()\ny = Own()\n", keep=["x"])
    assert isinstance(names["x"], names["Own"])
    assert removed.keys() == {"y"}


def test_values_that_refuse_to_be_looked_at_do_no_harm():
    names, _removed = after(
        "import weakref\nx = weakref.proxy(Own)\n"
        "class Odd(dict):\n    def values(self): raise ValueError\ny = Odd()\n"
        "class Meta(type):\n    def __getattribute__(cls, name): raise ValueError\n"
        "class Strange(metaclass=Meta): ...\nz = Strange()\n"
    )
    assert "Strange" in names

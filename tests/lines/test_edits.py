"""Every kind of edit: the code, and what it becomes. Nearly all edits are valid Python. Likely statements come first.

The pieces of an edit are (start, stop, new text). A place is a top-level statement that may be edited, such as a class.
"""

import ast
import time
from collections import Counter
from pathlib import Path

import pytest

from grader.intake.names import read_names
from grader.intake.read import Submission, Unit
from grader.lines.places import MAX_BYTES, places
from grader.lines.rules import CHANGES, EARLY, MAX_TEXT, PER_EDIT, RULES, edits, ordered
from tests.helpers.minimal import submission_of

MODULE = '''import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, size, num_hiddens, dropout):
        super().__init__()
        self.W_q = nn.Linear(size, num_hiddens, bias=False)
        self.W_k = nn.Linear(size, num_hiddens, bias=False)
        self.dropout = nn.Dropout(dropout)

    @torch.no_grad()
    def forward(self, queries, keys, lens=None):
        """Ä comment in a string."""
        q, k = self.W_q(queries), self.W_q(keys)
        scores = q @ k.transpose(1, 2) * q.shape[-1] ** 0.5
        if lens is not None:
            scores = scores.masked_fill(torch.arange(k.shape[1]) <= lens, -1e6)
        for step in range(2):
            scores += step
        return torch.softmax(scores.permute(0, 2, 1), dim=1)
'''


def one_place(source: str, name: str):
    submission = submission_of(source)
    (found,) = places(submission, read_names(submission), name, ())
    return found


@pytest.fixture(scope="module")
def place():
    return one_place(MODULE, "Attention")


def _parses(source: str) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


def test_nearly_every_edit_is_python(place):
    made = list(edits(place))
    broken = [edit for edit in made if not _parses(edit.edited["source"])]
    assert len(made) > 300
    assert len(broken) / len(made) < 0.02, {edit.kind for edit in broken}


PREFIX = "import torch\nfrom torch import nn\n\n\n"
# A kind of edit, the last line of a function of model, X, Y and i with a size n, and edits of this line.
LINES = [
    ("factor", "return X", ["return (X ** 2)", "return (X / 2)"]),
    ("exchange", "return Y.sin() + X.cos()", ["return Y.cos() + X.sin()", "return X.sin() + Y.cos()"]),
    ("return", "return X, Y", ["return X", "return Y"]),
    ("return", "X = Y", ["X = Y\n    return X", "X = Y\n    return n"]),
    ("name", "return X * n", ["return Y * n"]),
    ("none", "return g(None)", ["return g(X)", "return g(n)"]),
    ("name for constant", "return X[0]", ["return X[i]"]),
    ("everywhere", "return g(2, 2)", ["return g(n, n)"]),
    ("name for argument", "return g(X + 1)", ["return g(Y)"]),
    ("truth value", "return g(True)", ["return g(False)"]),
    ("axis", "return X.sum(1)", ["return X.sum((-1))", "return X.sum(0)"]),
    ("whole number", "return X * 4", ["return X * 5", "return X * 3", "return X * (-4)"]),
    ("decimal number", "return X * 0.5", ["return X * float('-inf')", "return X * (-0.5)", "return X * 5.0"]),
    ("drop side", "return X * Y", ["return X", "return Y"]),
    ("drop side", "X *= Y", ["X = Y"]),
    ("operation", "return X * Y", ["return (X / Y)", "return (X + Y)", "return (X @ Y)"]),
    ("comparison", "return X in Y", ["return (X not in Y)"]),
    ("sign", "return X.masked_fill(~Y, 0)", ["return X.masked_fill(Y, 0)"]),
    ("sign", "return X.masked_fill(Y, 0)", ["return X.masked_fill(~Y, 0)"]),
    ("term", "return X @ Y", ["return (Y + (X @ Y))"]),
    ("insert statement", "return model(X)", ["model.eval()\n    return model(X)"]),
    ("choice", "return X if i else Y", ["return X", "return Y", "return (Y if i else X)"]),
    (
        "comparison",
        "return X < Y",
        ["return (X <= Y)", "return (X > Y)", "return (X < Y + 1)"],
    ),
    ("drop call", "return torch.cat(X, 1)", ["return X"]),
    ("drop method", "return X.relu()", ["return X"]),
    ("drop method", "return X.T", ["return X"]),
    ("function", "return torch.cat(X)", ["return torch.stack(X)"]),
    ("argument order", "return g(X, k=Y)", ["return g(Y, k=X)"]),
    (
        "argument order",
        "return X.permute(0, 1, 3, 2)",
        ["return X.permute(0, 1, 2, 3)", "return X.permute(1, 3, 2, 0)"],
    ),
    ("argument order", "X, Y = i", ["Y, X = i"]),
    ("add argument", "return X.sum()", ["return X.sum(dim=-1)", "return X.sum(keepdim=True)"]),
    ("everywhere", "return X.sum() + Y.sum()", ["return X.sum(dim=-1) + Y.sum(dim=-1)"]),
    ("subscript", "return X[i, Y]", ["return X", "return X[Y, i]"]),
    ("insert function", "return X + Y", ["return (X + Y).tanh()"]),
    (
        "insert transpose",
        "return X + Y",
        ["return (X + Y).transpose(1, 2)", "return X.transpose(-2, -1) + Y"],
    ),
    ("drop statement", "X = Y", ["pass"]),
]
TWO_LAYERS = """class Block(nn.Module):
    def __init__(self, size, width):
        super().__init__()
        self.a = nn.Linear(size, 4)
        self.b = nn.Linear(width, 4)
        self.c = nn.Dropout(0.5)

    def forward(self, X):
        X = self.a(X) + self.b(X)
        return X
"""
# A kind of edit, a part of TWO_LAYERS that occurs once, and what takes its place.
PARTS = [
    ("unused layer", "return X", "return self.c(X)"),
    ("attribute", "self.a(X)", "self.b(X)"),
    ("move call", "self.a(X) + self.b(X)", "X + self.b(self.a(X))"),
    ("exchange", "self.a(X) + self.b(X)", "self.b(X) + self.a(X)"),
    ("name for constant", "(size, 4)", "(size, size)"),
    (
        "exchange",
        "size, 4)\n        self.b = nn.Linear(width, 4)",
        "width, 4)\n        self.b = nn.Linear(size, 4)",
    ),
    (
        "everywhere",
        "size, 4)\n        self.b = nn.Linear(width, 4)",
        "size, 4, bias=False)\n        self.b = nn.Linear(width, 4, bias=False)",
    ),
]


def edited(kind: str, source: str, name: str) -> set[str]:
    """Return the sources that the edits of a kind make of a function or class."""
    found = one_place(source, name)
    return {edit.source for edit in edits(found) if edit.kind == kind}


@pytest.mark.parametrize(("kind", "line", "wanted"), LINES)
def test_an_edit_of_a_line(kind, line, wanted):
    before = f"{PREFIX}def f(model, X, Y, i):\n    n = len(model)\n    "
    assert {f"{before}{new}\n" for new in wanted} <= edited(kind, f"{before}{line}\n", "f")


@pytest.mark.parametrize(("kind", "old", "new"), PARTS)
def test_an_edit_of_a_class(kind, old, new):
    assert TWO_LAYERS.count(old) == 1
    assert PREFIX + TWO_LAYERS.replace(old, new) in edited(kind, PREFIX + TWO_LAYERS, "Block")


def test_a_constructor_of_a_base_class_gets_its_keywords():
    source = PREFIX + "class E(nn.Embedding):\n    def __init__(self, n):\n        super().__init__(n, 4)\n"
    assert source.replace("n, 4", "n, 4, padding_idx=0") in edited("add argument", source, "E")


def test_every_kind_of_edit_has_a_row(place):
    kinds = {edit.kind for edit in edits(place)} | {rule.kind for rule in RULES} | set(CHANGES) | set(EARLY)
    assert {kind for kind, _old, _new in (*LINES, *PARTS)} == kinds


MANY_NAMES = """class Block(nn.Module):
    def __init__(self):
        self.one, self.two = nn.Linear(1, 1), nn.Linear(1, 1)

    def forward(self, X, a, b, c, d, e, f, g, h, i, j, k, l, m):
        X = self.one(X, a + b + c + d + e + f)
        return self.two(X, g + h + i + j + k + l + m)
"""


def test_numbers_too_long_to_write_are_not_edited():
    long = "0x" + "f" * 4000
    found = one_place(f"def f(X):\n    return X * {long} - {long} + 7\n", "f")
    edited = [edit.source for edit in edits(found)]
    assert any("+ 8" in source for source in edited)


def test_a_large_number_becomes_minus_infinity_first():
    found = one_place("def f(X, keep):\n    return X.masked_fill(keep, 1e6)\n", "f")
    texts = [edit.pieces[0][2] for edit in edits(found) if edit.kind == "decimal number"]
    assert texts[:2] == ["float('-inf')", "(-1000000.0)"]


def test_two_layers_are_exchanged_beside_many_names():
    found = one_place(PREFIX + MANY_NAMES, "Block")
    sources = [edit.source for edit in edits(found) if edit.kind == "exchange"]
    assert any("X = self.two(X" in source for source in sources)


def test_a_missing_return_names_the_last_line():
    found = one_place("def f(X):\n    for x in X:\n        X = X + x\n", "f")
    (line,) = {edit.line for edit in edits(found) if edit.pieces[0][2] == "\n    return X"}
    assert line == 3


def test_an_edited_definition_keeps_its_line_number(place):
    edited = next(edits(place)).edited
    assert ast.parse(edited["source"]).body[-1].lineno == place.node.lineno


def test_an_edit_of_one_piece_starts_at_its_statement_or_below(place):
    for edit in edits(place):
        first = min(start for start, _stop, _new in edit.pieces)
        assert place.text.line(first) >= edit.line or len(edit.pieces) > 1
        assert edit.line in place.statements


def test_no_candidate_is_tried_twice(place):
    found = ordered(edits(place), {})
    assert len({one.pieces for one in found}) == len(found)


def test_equal_edits_in_two_cells_are_two_candidates():
    units = (
        Unit("cell 1", "def g(X):\n    return X + 1\n"),
        Unit("cell 2", "def f(X):\n    return X + 1 + g(X)\n"),
    )
    submission = Submission(Path("a.ipynb"), units)
    there = places(submission, read_names(submission), "f", ())
    made = {place.unit: {edit.pieces for edit in edits(place)} for place in there}
    found = ordered((edit for place in there for edit in edits(place)), {})
    assert made["cell 1"] & made["cell 2"]
    assert Counter(one.place.unit for one in found) == {unit: len(pieces) for unit, pieces in made.items()}


def test_edits_of_a_likely_statement_are_tried_first(place):
    likely = place.statements[-1]
    found = ordered(edits(place), {(place.unit, likely): 9.0})
    assert {one.line for one in found[:20]} == {likely}


def test_a_definition_of_another_exercise_is_not_edited():
    submission = submission_of("def g(X):\n    return X\n\n\ndef f(X):\n    return g(X)\n")
    names = read_names(submission)
    assert {p.node.name for p in places(submission, names, "f", ())} == {"f", "g"}
    assert {p.node.name for p in places(submission, names, "f", {"g"})} == {"f"}


def test_a_very_long_definition_is_not_edited():
    source = "def f(X):\n" + "    X = X + 1\n" * (MAX_BYTES // 10) + "    return X\n"
    submission = submission_of(source)
    assert places(submission, read_names(submission), "f", ()) == []


def of_size(head: str, part: str, between: str, tail: str) -> str:
    """Return a source of nearly MAX_BYTES; `{}` in a part is its number."""
    count = (MAX_BYTES - len(head + tail) - 100) // (len(part.format(9999)) + len(between))
    return head + between.join(part.format(number) for number in range(count)) + tail


FUNCTION, CLASS = "def f(x):\n    ", "class f(nn.Module):\n    "
LONG = {
    "names in one line": of_size(FUNCTION, "a{0} = 1; b{0} = a{0}", "; ", "\n    return x\n"),
    "names of a list": of_size(FUNCTION + "b = [", "a{}", ", ", "]\n    a1 = a2 = 1\n    return b\n"),
    "names in lines": of_size(FUNCTION, "a{0} = x + a{0}", "\n    ", "\n    return x\n"),
    "assigned names": of_size(FUNCTION, "a{}", " = ", " = 1\n    return x\n"),
    "targets": of_size(FUNCTION, "a{}", ", ", " = x\n    return x\n"),
    "arguments": of_size(FUNCTION + "return g(", "x{}", ", ", ")\n"),
    "calls": of_size(FUNCTION, "x = torch.exp(x)", "\n    ", "\n    return x\n"),
    "conditions": of_size(FUNCTION + "return ", "x", " and ", "\n"),
    "indices": of_size(FUNCTION + "return x[", ":{}", ", ", "]\n"),
    "methods": of_size(CLASS, "def f{0}(self, x): return self.a(x)", "\n    ", "\n"),
    "attributes": of_size(CLASS + "def __init__(self):\n        ", "self.a{0} = self.b{0}", "; ", "\n"),
    "loops": of_size(FUNCTION, "for a{0} in x: b{0} = c", "\n    ", "\n    return x\n"),
    "stores": of_size(FUNCTION, "a{0} = s[{0}] is None", "\n    ", "\n    return x\n"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", LONG)
def test_the_edits_of_a_long_statement_are_bounded(kind):
    before = time.process_time()
    place = one_place(LONG[kind], "f")
    made = list(edits(place))
    assert time.process_time() - before < 5  # at most 1 on a quiet machine
    assert made
    size = sum(PER_EDIT + sum(len(new) for _start, _stop, new in edit.pieces) for edit in made)
    assert size <= MAX_TEXT


def test_making_edits_ends_in_time(place):
    assert list(edits(place, until=time.monotonic())) == []

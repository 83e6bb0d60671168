"""Operators offer the edits that common mistakes need; nearly all are valid Python. Likely statements come first.

An operator is a kind of edit. The pieces of an edit are (start, stop, new text). A place is a top-level statement
that may be edited, such as a class.
"""

import ast
import time
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from grader.intake.names import read_names
from grader.intake.read import Submission, Unit
from grader.lines.candidates import MAX_BYTES, MAX_EDITS, MAX_TEXT, places
from grader.lines.search import Candidate, ordered
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


SECOND = """import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, size, dropout):
        super().__init__()
        self.dense1 = nn.Linear(size, 4, bias=False)
        self.dense2 = nn.Linear(4, size, bias=False)
        self.norm = nn.LayerNorm(size)
        self.dropout = nn.Dropout(0.0)

    def forward(self, X, mask=None):
        Y = self.dense1(sequences)
        X = X.cos() + self.dense2(Y).sin()
        total = torch.zeros(4)
        for row in Y:
            total = total + row
        return self.dropout(X.view(4, -1))
"""


CACHED = """def step(X, state, place):
    if state[1][place] is None:
        seen = X
    else:
        seen = X + state[1][place]
    return seen, state
"""


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


@cache
def offered(source: str, name: str) -> set[str]:
    """Return every simple statement of the edited sources, as `ast.unparse` writes it."""
    place = one_place(source, name)
    sources = [place.edited(edit).source for edit in place.edits()]
    trees = [ast.parse(source) for source in sources if _parses(source)]
    simple = (ast.Assign, ast.AugAssign, ast.Return, ast.Pass)
    return {ast.unparse(node) for tree in trees for node in ast.walk(tree) if isinstance(node, simple)}


def test_nearly_every_edit_is_python(place):
    edits = list(place.edits())
    broken = [edit for edit in edits if not _parses(place.edited(edit).source)]
    assert len(edits) > 300
    assert len(broken) / len(edits) < 0.02, {edit.operator for edit in broken}


OF_MODULE = [
    "q, k = self.W_q(queries), self.W_k(keys)",
    "scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5",
    "scores = scores.masked_fill((torch.arange(k.shape[1]) >= lens), -1e6)",
    "scores = scores.masked_fill((~(torch.arange(k.shape[1]) <= lens)), -1e6)",
    "return torch.softmax(scores.permute(0, 2, 1), dim=(-1))",
    "return torch.softmax(scores.permute(1, 2, 0), dim=1)",
    "return torch.softmax(self.dropout(scores.permute(0, 2, 1)), dim=1)",
    "return torch.softmax(scores, dim=1)",
    "scores = scores + (step)",
    "pass",
]
OF_SECOND = [
    "self.dropout = nn.Dropout(dropout)",
    "Y = self.dense1(X)",
    "X = X.sin() + self.dense2(Y).cos()",
    "X = self.norm(X.cos(), self.dense2(Y).sin())",
    "X = self.norm(X)",
    "return self.dropout(X)",
    "return (self.dropout(X.view(4, -1)), mask)",
    "self.dense1 = nn.Linear(size, size, bias=False)",
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "name", "line"),
    [*((MODULE, "Attention", line) for line in OF_MODULE), *((SECOND, "Block", line) for line in OF_SECOND)],
)
def test_an_edit_that_students_need_is_offered(source, name, line):
    assert ast.unparse(ast.parse(line)) in offered(source, name)


PREFIX = "import torch\nfrom torch import nn\n\n\n"
TWO_LAYERS = """class Block(nn.Module):
    def __init__(self, size, width):
        super().__init__()
        self.a = nn.Linear(size, 4)
        self.b = nn.Linear(width, 4)
        self.c = self.a
"""
SHARED = """class Block(nn.Module):
    def __init__(self):
        self.W_k, self.W_q = (nn.LazyLinear(4) for _ in range(2))

    def forward(self, X, Y):
        return self.W_q(X) + self.W_q(Y)
"""
MANY_NAMES = """class Block(nn.Module):
    def forward(self, X, a, b, c, d, e, f, g, h, i, j, k, l, m):
        X = self.one(X, a + b + c + d + e + f)
        return self.two(X, g + h + i + j + k + l + m)
"""
IN_A_LOOP = """def step(model, X):
    word = X[0]
    for _ in range(1):
        best = model.read(word)
        X = X + 1
    return X
"""


@pytest.mark.parametrize(
    ("source", "old", "new"),
    [
        (
            TWO_LAYERS,
            "size, 4)\n        self.b = nn.Linear(width, 4)",
            "width, 4)\n        self.b = nn.Linear(size, 4)",
        ),
        (TWO_LAYERS, "self.c = self.a", "self.c = nn.Linear(size, 4)"),
        (SHARED, "self.W_q(X) + self.W_q(Y)", "self.W_k(X) + self.W_q(Y)"),
        (IN_A_LOOP, "X = X + 1", "X = X + 1\n        word = best"),
        (IN_A_LOOP, "range(1)", "range(len(X))"),
        (IN_A_LOOP, "range(1)", "range(0, 1 + 1)"),
        (IN_A_LOOP, "model.read(word)", "model.read(word, X)"),
        (IN_A_LOOP, "    for", "    model.eval()\n    for"),
        ("def f(n):\n    return torch.arange(1, n + 1)\n", "1, n + 1", "1 - 1, (n + 1) - 1"),
        ("def f(X):\n    return X / X.max(dim=1).values\n", "X.max(dim=1).values", "X.sum(dim=1)"),
        ("def f(X):\n    return torch.exp(-X)\n", "torch.exp(-X)", "torch.softmax(-X, dim=-1)"),
        ("def f(X):\n    return X.relu()\n", "X.relu()", "X.softmax(dim=-1)"),
        ("def f(X):\n    return X.sum(0) + X.sum(1)\n", "X.sum(0) + X.sum(1)", "X.mean(0) + X.mean(1)"),
        ("def f(X):\n    return X[0x10:] + X[:0x10]\n", "X[0x10:] + X[:0x10]", "X[17:] + X[:17]"),
        ("def f(X, i):\n    return X[i:]\n", "X[i:]", "X[:, i:]"),
        ("def f(X, i):\n    return X[:, i:]\n", "X[:, i:]", "X[i:]"),
        ("def f(X, i):\n    return X[i:i]\n", "X[i:i]", "X[i:i + 1]"),
    ],
)
def test_an_edit_of_a_common_mistake_is_offered(source, old, new):
    name = source.split("(")[0].split()[1]  # of the class or function
    found = one_place(PREFIX + source, name)
    sources = [found.text.changed(edit.pieces) for edit in found.edits()]
    assert source.count(old) == 1
    assert PREFIX + source.replace(old, new) in sources


def test_numbers_too_long_to_write_are_not_edited():
    long = "0x" + "f" * 4000
    found = one_place(f"def f(X):\n    return X * {long} - {long} + 7\n", "f")
    edited = [found.text.changed(edit.pieces) for edit in found.edits()]
    assert any("+ 8" in source for source in edited)


def test_a_large_number_becomes_minus_infinity_first():
    found = one_place("def f(X, keep):\n    return X.masked_fill(keep, 1e6)\n", "f")
    texts = [edit.pieces[0][2] for edit in found.edits() if edit.operator == "decimal number"]
    assert texts[:2] == ["float('-inf')", "(-1000000.0)"]


def test_one_keyword_is_offered_for_all_layers():
    found = one_place(PREFIX + TWO_LAYERS, "Block")
    (edit,) = [edit for edit in found.edits() if edit.operator == "add arguments"]
    assert found.text.changed(edit.pieces).count(", 4, bias=False)") == 2


def test_two_layers_are_exchanged_beside_many_names():
    found = one_place(PREFIX + MANY_NAMES, "Block")
    (edit,) = [edit for edit in found.edits() if edit.operator == "exchange layers"]
    assert "X = self.two(X" in found.text.changed(edit.pieces)


def test_a_missing_return_names_the_last_line():
    found = one_place("def f(X):\n    for x in X:\n        X = X + x\n", "f")
    (line,) = {edit.statement for edit in found.edits() if edit.pieces[0][2] == "\n    return X"}
    assert line == 3


def test_a_missing_layer_names_the_assignment_above():
    """The line of the edit is the assignment of the same variable above the gap; without one, the line below.

    If `pass` marks the gap, the line of another edit is `pass`.
    """
    source = PREFIX + SHARED.replace(
        "return self.W_q(X) + self.W_q(Y)", "X = self.W_q(X)\n        return X, Y"
    )
    # inserted text → the line of the edit
    wanted = {"X = self.W_k(X)\n        ": "X = self.W_q(X)", "Y = self.W_k(Y)\n        ": "return X, Y"}
    for gap in ("", "        pass\n"):
        text = source.replace("        return", gap + "        return")
        found = one_place(text, "Block")
        named = {
            (new, text.splitlines()[edit.statement - 1].strip())
            for edit in found.edits()
            if (new := edit.pieces[0][2]) in wanted
        }
        assert set(wanted.items()) <= named
        assert (("X = self.W_k(X)\n        ", "pass") in named) == bool(gap)


def test_an_edited_definition_keeps_its_line_number(place):
    edited = place.edited(next(place.edits()))
    assert ast.parse(edited.source).body[-1].lineno == place.node.lineno


def test_an_edit_of_one_piece_starts_at_its_statement_or_below(place):
    for edit in place.edits():
        first = min(start for start, _stop, _new in edit.pieces)
        assert place.text.line(first) >= edit.statement or len(edit.pieces) > 1
        assert edit.statement in place.statements


def test_no_candidate_is_tried_twice(place):
    found = ordered([Candidate(place, edit) for edit in place.edits()], {})
    assert len({one.edit.pieces for one in found}) == len(found)


def test_equal_edits_in_two_cells_are_two_candidates():
    units = (
        Unit("cell 1", "def g(X):\n    return X + 1\n"),
        Unit("cell 2", "def f(X):\n    return X + 1 + g(X)\n"),
    )
    submission = Submission(Path("a.ipynb"), units)
    there = places(submission, read_names(submission), "f", ())
    edits = {place.unit: {edit.pieces for edit in place.edits()} for place in there}
    found = ordered([Candidate(place, edit) for place in there for edit in place.edits()], {})
    assert edits["cell 1"] & edits["cell 2"]
    assert Counter(one.place.unit for one in found) == {unit: len(pieces) for unit, pieces in edits.items()}


def test_edits_of_a_likely_statement_are_tried_first(place):
    likely = place.statements[-1]
    found = ordered([Candidate(place, edit) for edit in place.edits()], {(place.unit, likely): 9.0})
    assert {one.edit.statement for one in found[:20]} == {likely}


def test_a_definition_of_another_exercise_is_not_edited():
    submission = submission_of("def g(X):\n    return X\n\n\ndef f(X):\n    return g(X)\n")
    names = read_names(submission)
    assert {p.node.name for p in places(submission, names, "f", ())} == {"f", "g"}
    assert {p.node.name for p in places(submission, names, "f", {"g"})} == {"f"}


def test_a_very_long_definition_is_not_edited():
    source = "def f(X):\n" + "    X = X + 1\n" * (MAX_BYTES // 10) + "    return X\n"
    submission = submission_of(source)
    assert places(submission, read_names(submission), "f", ()) == []


def stores(source: str) -> list[str]:
    """Return the edited source of each edit that stores a name in an entry of a list."""
    found = one_place(source, "step")
    edits = [edit for edit in found.edits() if edit.operator == "insert store"]
    return [found.edited(edit).source + "\n" for edit in edits]


def test_an_entry_that_is_read_and_never_written_is_stored():
    after = CACHED.replace("\n    return", "\n    state[1][place] = seen\n    return")
    assert stores(CACHED) == [after]
    named = CACHED.replace("if state[1][place]", "old = state[1][place]\n    if old")
    assert after.replace("if state[1][place]", "old = state[1][place]\n    if old") in stores(named)


def test_an_entry_that_is_written_is_not_stored_again():
    assert stores(CACHED.replace("    return", "    state[1][place] = X\n    return")) == []


def test_a_private_or_repeated_method_is_not_sent_alone():
    """For an edit of such a method, the worker gets the whole class."""
    source = "class Attention:\n    def __f(self, x):\n        return x + 1\n\n    def g(self, x):\n        return x * 2\n"
    found = one_place(source, "Attention")
    assert {function.path for function in found.functions} == {"Attention.g"}
    twice = one_place(source.replace("__f", "g"), "Attention")
    assert not twice.functions


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
    edits = list(place.edits())
    assert time.process_time() - before < 5  # at most 1 on a quiet machine
    assert 0 < len(edits) <= MAX_EDITS
    assert sum(len(new) for edit in edits for _start, _stop, new in edit.pieces) <= MAX_TEXT


def test_making_edits_ends_in_time(place):
    assert list(place.edits(until=time.monotonic())) == []

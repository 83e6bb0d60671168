"""Slips: Python errors that are certain from the text. Also correct code that looks like such an error."""

import tracemalloc

import pytest
import torch
from helpers.minimal import submission_of

from grader.intake.misspelt import METHODS, misspellings
from grader.intake.slips import LAYERS, slips

MODULE = """
class A(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.W_q = nn.Linear(2, 3)
        self.drop = nn.Dropout(dropout)

    def transpose_output(self, X):
        return X.transpose(0, 1)

    def forward(self, query):
        return self.drop(self.transpose_output(self.W_q(query)))
"""


def found(source, name="A"):
    """Return (line, sentence) of each slip. The import above the source is not counted."""
    submission = submission_of(f"from torch import nn\n{source}")
    return [(slip.line - 1, slip.says) for slip in slips(submission, name)]


def test_right_code_and_a_missing_definition_have_no_slips():
    assert found(MODULE) == []
    assert found("def f(x): ...", "A") == []
    assert found(MODULE, "B") == []


@pytest.mark.parametrize(
    ("right", "wrong", "line", "says"),
    [
        ("def __init__(", "def init__(", 3, "the method is called `init__`; Python calls `__init__`"),
        ("def __init__(", "def _init_(", 3, "the method is called `_init_`; Python calls `__init__`"),
        ("def __init__(", "def __int__(", 3, "the method is called `__int__`; Python calls `__init__`"),
        ("super()", "super", 4, "`super.__init__` has no brackets; write `super().__init__`"),
        ("super().__init__", "super()._init_", 4, "`super()._init_` does not exist; write `super().__init__`"),
        ("super().__init__()", "super(A).__init__()", 4, "`super` has only one argument; write `super().__init__()`"),
        ("X.transpose(0, 1)", "nn.functional.softmax(X, mdim=1)", 9, "`softmax` has no parameter `mdim`; did you mean `dim`?"),
        ("X.transpose(0, 1)", "torch.cat([X], dm=1)", 9, "`cat` has no parameter `dm`; did you mean `dim`?"),
        ("super().__init__()", "super().__init__", 4, "`super().__init__` is not called; add `()`"),
        ("        super().__init__()\n", "", 4, "a layer is set before `super().__init__()` is called"),
        ("def forward", "def foward", 11, "the method is called `foward`; PyTorch calls `forward`"),
        ("nn.Module", "nn,Module", 2, "`nn,Module` has a comma; write `nn.Module`"),
        ("self.drop = nn.Dropout(dropout)", "self.drop = [nn.Dropout(dropout)]", 6, "layers in the list `self.drop` are not registered; use `nn.ModuleList`"),
        ("self.drop = nn.Dropout(dropout)", "self.drop = []; self.drop.append(nn.Dropout(dropout))", 6, "layers in the list `self.drop` are not registered; use `nn.ModuleList`"),
        ("self.drop = nn.Dropout(dropout)", "self.drop = {'a': nn.Dropout(dropout)}", 6, "layers in the list `self.drop` are not registered; use `nn.ModuleList`"),
        ("self.drop = nn.Dropout(dropout)", "drops = []; drops.append(nn.Dropout(dropout)); self.drop = drops", 6, "layers in the list `self.drop` are not registered; use `nn.ModuleList`"),
        ("self.drop = nn.Dropout(dropout)", "self.drop = list(nn.Linear(1, n) for n in (1, 2))", 6, "layers in the list `self.drop` are not registered; use `nn.ModuleList`"),
        ("self.W_q(query)", "self.w_q(query)", 12, "nothing sets `self.w_q`; did you mean `self.W_q`?"),
        ("return self.drop(self", "querys = query + 1\n        return self.drop(query + self", 12, "`querys` is set and never read; did you mean `query`?"),
        ("return self.drop(self", "return nn.ReLU(self", 12, "`nn.ReLU` is a layer; write `nn.ReLU(…)(X)`, or call `torch.relu`"),
        ("X.transpose(0, 1)", "nn.Softmax(X, dim=-1)", 9, "`nn.Softmax` is a layer; write `nn.Softmax(dim=…)(X)`, or call `torch.softmax`"),
        ("X.transpose(0, 1)", "X.masked_fill(X > 0, 1e-9)", 9, "the fill value is 1e-09, which is nearly zero; write -1e+09"),
        ("(nn.Module)", "", 2, "the class does not inherit from nn.Module; write `class A(nn.Module)` and call `super().__init__()`"),
        ("(self.W_q(query))", "(self.W_q(querry))", 12, "nothing is called `querry`; did you mean `query`?"),
        ("X.transpose(0, 1)", "X.tranpose(0, 1)", 9, "there is no `.tranpose`; did you mean `.transpose`?"),
        ("X.transpose(0, 1)", "X.premute(0, 1)", 9, "there is no `.premute`; did you mean `.permute`?"),
        ("X.transpose(0, 1)", "X.maskedfill(X > 0, 1)", 9, "there is no `.maskedfill`; did you mean `.masked_fill`?"),
    ],
)  # fmt: skip
def test_a_slip_is_found_with_its_line(right, wrong, line, says):
    assert right in MODULE
    assert (line, says) in found(MODULE.replace(right, wrong))


NAMES = """
class A(nn.Module):
    def forward(self, query, key):
        return querys @ key

    def score(self, querys):
        return querys
"""


def test_a_name_that_only_another_function_binds_is_unknown():
    assert found(NAMES) == []  # the class itself binds it: it may be right elsewhere
    outside = NAMES.replace("    def score(self,", "def score(")
    assert found(outside) == [(4, "nothing is called `querys`; did you mean `query`?")]


def test_a_misspelt_name_is_found_although_its_exception_is_caught():
    source = "def A(query):\n    try:\n        return querry\n    except NameError:\n        return query"
    assert found(source) == [(3, "nothing is called `querry`; did you mean `query`?")]


def test_a_method_that_is_defined_twice_is_found():
    twice = MODULE + "    def forward(self, X):\n        return X\n"
    says = "forward is defined twice; the last one counts, the other is at answer.py, line 12"
    assert found(twice) == [(13, says)]


def test_a_source_that_pyflakes_cannot_read_has_no_such_slip():
    deep = "def A(query):\n    return querry + " + "-" * 900 + "1"
    assert found(deep) == []


def test_a_long_module_name_is_not_stored_for_each_name():
    names = ",".join(f"a{i}" for i in range(200))
    tracemalloc.start()
    found(f"from {'m' * 500_000} import {names}\ndef A(x):\n    return x")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30e6  # 200 copies of it would be 100 MB


def test_forward_inside_the_constructor_is_found():
    head, _middle, tail = MODULE.partition("    def forward")
    assert tail
    nested = head.replace("    def transpose_output(self, X):\n        return X.transpose(0, 1)\n\n", "")
    nested += "        def forward(self, query):\n            return self.W_q(query)\n"
    assert [says for _line, says in found(nested)] == [
        "`forward` is defined inside `__init__`; indent it less"
    ]


def test_a_misspelt_call_of_a_function_is_found():
    source = "def tranpose_qkv(X): ...\n\ndef f(X):\n    return transpose_qkv(X)"
    assert found(source, "f") == [(4, "nothing is called `transpose_qkv`; did you mean `tranpose_qkv`?")]


LENGTHS = (
    "class A(nn.Module):\n    def forward(self, x, valid_lens):\n        return mask(x, {read})\n{after}\n"
)


def test_a_variable_of_the_file_that_is_nearly_a_parameter_is_found():
    source = LENGTHS.format(read="vaild_lens", after="vaild_lens, x = 1, 2")
    says = "`vaild_lens` is a variable of the file; did you mean the parameter `valid_lens`?"
    assert found(source) == [(3, says)]


@pytest.mark.parametrize(
    "source",
    [
        LENGTHS.format(read="valid_lens", after="vaild_lens = 1"),
        LENGTHS.format(read="num_heads", after="num_heads = 1"),
        LENGTHS.format(read="X", after="X = 1"),
        "class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.x = [torch.Tensor(1), nn.Parameter(y)]",
        "class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n        x = [nn.Linear(1, 1)]\n        self.x = nn.Sequential(*x)",
        "class A:\n    def __call__(self, x):\n        return self.forward(x)\n    def forward(self, x):\n        return x",
        "def A(x):\n    return softmax(x, mdim=1) + other.softmax(x, mdim=1)",
        "def A(x):\n    return F.softmax(x, dim=1) + torch.sum(x, axis=1) + F.softmax(x, _stacklevel=3)",
        "class A:\n    def _init_(self): ...\n    def __init__(self):\n        self._init_()",
        "class A:\n    def __int__(self):\n        return 1",
        "class A(B):\n    def _init_(self, x): ...\n\nclass B:\n    def __init__(self):\n        self._init_(1)",
        "class A(nn.Module):\n    def __init__(self):\n        nn.Module.__init__(self)\n        self.x = nn.Linear(1, 1)",
        "class A(nn.Module):\n    def __init__(self):\n        super(A, self).__init__()\n        self.x = nn.Linear(1, 1)",
        "class A(nn.Module):\n    def __init__(self):\n        self.size = 3\n        super().__init__()\n        self.x = nn.Linear(1, 1)",
        "class A(Other):\n    def __init__(self):\n        self.x = nn.Linear(1, 1)",
        "class A(Other):\n    W_q = 1\n    def forward(self):\n        return self.w_q",
        "class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.register_buffer('mask_1', None)\n        self.mask_2 = 1\n    def forward(self):\n        return self.mask_1",
        "class A(nn.Module):\n    heads_1 = 1\n    heads_2 = 2\n    def forward(self):\n        return self.heads_1",
        "class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n        setattr(self, n, 1)\n        self.head_2 = 1\n    def forward(self):\n        return self.head_1",
        "class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n        def forward(x): return x\n        self.forward = forward",
        "class A(nn.Module):\n    def forward(self, x: Tensor, tensor=None) -> Tensor:\n        return x",
        "class A(nn.Module):\n    def forward(self, x):\n        return self.train_ if False else self.parameters",
        "class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.mask_1 = 1\n        self.register_buffer('mask_2', None)\n    def forward(self):\n        return self.mask_2",
        "class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.modules_ = [1]\n    def forward(self, x):\n        return [*self.modules()]",
        "def A(query):\n    relu = nn.ReLU(query.shape == 3)\n    return relu(query)",
        "def A(query):\n    querys = query.detach()\n    return querys",
        "def A(querys):\n    print(querys)\n    query = querys + 1\n    return 1",
        "from helpers import *\ndef A(query):\n    return querry",
        "def A(query):\n    return [querry for querry in query]",
        "def A(query):\n    try:\n        querry\n    except NameError:\n        querry = query\n    return querry",
        "def A(query):\n    querry = 1\n    del querry\n    return querry",
        "class A(nn.Module):\n    @property\n    def size(self):\n        return 1\n    @size.setter\n    def size(self, size): ...",
        "class A(nn.Module):\n    @register\n    def step(self): ...\n    @register\n    def step(self): ...",
        "class A(nn.Module):\n    if old:\n        def step(self): ...\n    else:\n        def step(self): ...",
        "import linen as nn\nclass A(nn.Module):\n    x = nn.linear",
        "def A(x):\n    x.apend = 1\n    return x.apend",
    ],
)
def test_code_that_may_be_right_has_no_slip(source):
    assert found(source) == []


def test_the_tables_agree_with_pytorch():
    existing = {
        *dir(torch.Tensor),
        *dir(torch.nn.Module()),
        *dir(list),
        *dir(torch),
        *dir(torch.nn.functional),
        *dir(dict),
    }
    for layer in LAYERS:
        assert hasattr(torch.nn, layer)
        assert [n for n in dir(torch.nn) if n.lower() == layer.lower()] == [layer]
    for method in METHODS:
        assert method in existing
        assert existing.isdisjoint(misspellings(method))


LOOP = "def f(X, n):\n    i = 0\n    while i < n:\n        X[i] = X[i] * 2\n    return X\n"


def test_a_loop_that_never_changes_its_condition_is_a_slip():
    assert found(LOOP, "f") == [(3, "nothing in this `while` loop changes `i`, `n`")]


@pytest.mark.parametrize(
    "line",
    ["i += 1", "i = i + 1", "break", "return X", "n.sub_(1)", "step(i, n)", "X[i], i = 0, i + 1", "raise E"],
)
def test_a_loop_that_may_end_is_no_slip(line):
    assert found(LOOP.replace("X[i] = X[i] * 2", line), "f") == []


@pytest.mark.parametrize("call", ["exit()", "quit()", "sys.exit(1)"])
def test_a_function_that_ends_python_needs_no_return(call):
    assert found(f"import sys\ndef f(X):\n    {call}\n", "f") == []

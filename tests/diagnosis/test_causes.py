"""The sentence about an exception fits what PyTorch and Python really raise for a line of code."""

import math
import re

import pytest
import torch
from torch import nn

from grader.diagnosis import causes as module
from grader.diagnosis.causes import causes
from grader.judge.observation import StudentError
from grader.report.finding import PUBLIC

SETUP = """
valid_lens = state = None
X, k, v, w = (torch.ones(*shape) for shape in ((2, 3, 8), (2, 5, 8), (3, 5), (3, 4)))
mask, layer, W = X[..., 0] > 2, nn.Linear(8, 4), torch.ones(4, requires_grad=True)
def f(x, n): return x
def cut(): return torch.ones(2), torch.ones(2)
class Own:
    def __init__(self): self.drop = 1
    def read(self): return self.dropout
    size = property(lambda self: 1)
self = Own()
"""
# A line that raises, and words of its sentence.
LINES = [
    ("lens = valid_lens.repeat_interleave(3)", "`valid_lens` is None here: without lengths"),
    ("lens = valid_lens[:, None]", "`valid_lens` is None here: without lengths"),
    ("Y = state.permute(1, 0, 2)", "`state` is None here"),
    ("Y = X + state", "a value is None here"),
    ("if X: pass", "`if` needs a single value, and `X` is a tensor with several"),
    ("Y = X and k", "`if`, `and`, `or` and `not` need a single value"),
    ("Y = math.cos(X)", "`math.cos` computes with one number: for a tensor, use `torch.cos`"),
    ("Y = float(X)", "a tensor with several values stands where one number is meant"),
    ("Y = W.numpy()", "NumPy computes no gradients"),
    ("Y = torch.sqrt(8)", "`sqrt` of torch needs a tensor, and gets a number"),
    ("Y = layer(nn.ReLU(X))", "a layer, `ReLU`, stands where a tensor is meant"),
    ("Y = torch.block_diag([X])", "a list of tensors stands where a tensor is meant"),
    ("Y = X.reshape(2, 3, 8 / 2, 2)", "a size is a float"),
    ("Y = cut().size(0)", "a tuple stands where a tensor is meant"),
    ("Y = [X].size(0)", "a list has no `size`"),
    ("Y = list(8)", "a single number stands where several are meant"),
    ("Y = X.contiguous.view(48)", "write `contiguous()`"),
    ("layer.weight = torch.ones(4, 8)", "`weight` is a parameter of the layer"),
    ("n = [1, 2].index(8)", "8 is looked up in a list"),
    ("Y = X(2)", "a tensor is called like a function"),
    ("Y = 2(X)", "a value is called like a function"),
    ("Y = X.masked_fill(X, 0.0)", "the mask holds numbers"),
    ("Y = torch.bmm(X, k.double().transpose(1, 2))", "tensors of two dtypes meet"),
    ("Y = X.masked_fill(X > 0, -1e300)", "too large for the dtype"),
    ("Y = self.dropout", "nothing has set `self.dropout`"),
    ("self.size = 2", "`size` is a property without a setter"),
    ("def g():\n    Y += 1\ng()", "the lines that set it did not run"),
    ("Y = f(X)", "the call leaves out 'n'"),
    ("Y = f(X, heads=2)", "`f` has no parameter `heads`"),
    ("Y = f(X, 1, n=2)", "passed twice"),
    ("Y = nn.Sequential(layer)(X, 2)", "call the layers in a loop"),
    ("Y = f(X, 2, 3)", "more arguments than `f` takes"),
    ("Y = nn.Dropout(2)", "the dropout rate is 2"),
    ("Y = nn.GRU(4, 4, 1, 0.1)", "the argument `bias` gets a float"),
    ("m = nn.Module.__new__(nn.Module); m.a = nn.Linear(1, 1)", "must run before a layer is set"),
    ("def g(): return g()\ng()", "calls itself without end"),
    ("def g(): raise NameError('AddNorm is not among the building blocks of this exercise')\ng()", "your own code in the place of `AddNorm`"),
    ("Y = X.permute(0, 1)", "the tensor has 3 axes here, and `permute` names 2"),
    ("Y = torch.bmm(X[0], k)", "`bmm` needs two tensors with three axes"),
    ("a, b, c, d = X.shape", "4 names wait for values, and there are 3"),
    ("a, b = X.shape", "there are more than 2 values"),
    ("Y = X.softmax(dim=3)", "no axis 3"),
    ("Y = X[0, 0, 0, 0]", "only 3 axes"),
    ("Y = X[:, 7]", "position 7 of axis 1 is read, and this axis has 3"),
    ("Y = nn.Embedding(3, 2)(torch.tensor([3]))", "not smaller than the number of embeddings"),
    ("Y = nn.Linear(3, 4)(X[0])", "8 features meet a layer or a matrix for 3"),
    ("Y = torch.bmm(X, k)", "the left tensor has 8 columns and the right one 5 rows"),
    ("Y = torch.bmm(X, k[:1].transpose(1, 2))", "holds 2 matrices and the right one 1"),
    ("Y = v @ torch.ones(3)", "a table with 5 columns meets 3 values"),
    ("Y = X + k", "two tensors meet with 3 and 5 on axis 1"),
    ("X[:, :, 0::1] = torch.ones(2, 3, 4)", "4 values are assigned to 8 places on axis 2"),
    ("Y = torch.ones(4).expand(3, 8)", "4 values cannot be spread over 8 places"),
    ("X[mask[0].nonzero()[:, 0]] = torch.ones(3, 7)", "values of shape"),
    ("Y = X[torch.ones(3, dtype=torch.bool)]", "a mask of shape [3] meets a tensor of shape [2, 3, 8]"),
    ("Y = X.reshape(5, 7)", "48 values do not fit into the shape [5, 7]"),
    ("Y = X.transpose(1, 2).view(48)", "`view` cannot follow an exchange of axes"),
    ("Y = X.unflatten(2, (3, -1))", "8 features cannot be split as [3, -1]"),
    ("Y = torch.cat((X, k), dim=2)", "have 3 and 5 on another axis"),
    ("Y = nn.GRU(8, 6)(X, torch.ones(1, 2, 6))", "the state of the recurrent layer has the shape (1, 2, 6)"),
    ("X[:, :1].sub_(k)", "cannot make a tensor of shape [2, 1, 8] larger"),
    ("Y = nn.LayerNorm(5)(X)", "the normalisation is for 5 features, and 8 arrive"),
    ("Y = nn.functional.cross_entropy(X, mask.long())", "takes the classes on axis 1"),
    ("y = (W * W).sum(); y.backward(); y.backward()", "used for two gradients"),
    ("W += 1", "changed in place"),
    ("X.sum().backward()", "no gradient flows here"),
]  # fmt: skip


def raised(code):
    """Return the exception of the last line of the code, as the worker describes it."""
    names = {"torch": torch, "nn": nn, "math": math}
    exec(SETUP, names)
    with pytest.raises(BaseException) as found:  # noqa: PT011 (whichever it is)
        exec(code, names)
    line = code.splitlines()[-1]
    return StudentError(type(found.value).__name__, str(found.value), ("own.py", 3, line), "call")


@pytest.mark.parametrize(("code", "says"), LINES)
def test_the_cause_of_what_a_line_raises(code, says):
    (cause,) = causes(raised(code))
    assert says in PUBLIC.sentence(cause)


def test_the_course_calls_without_an_argument_that_the_answer_requires():
    error = StudentError(
        "TypeError", "f() missing 1 required positional argument: 'w'", ("own.py", 1, "def f(x, w):"), "call"
    )
    (cause,) = causes(error)
    assert PUBLIC.sentence(cause) == "`f` is called without `w`: give this parameter a default value"


def test_every_row_of_the_table_is_right_for_some_line():
    said = {fact.data["cause"] for code, _says in LINES for fact in causes(raised(code))}
    texts = {re.sub(r"\\{\d\\}", ".*", re.escape(says)): says for _pattern, says in module.CAUSES}
    unused = [says for text, says in texts.items() if not any(re.fullmatch(text, one) for one in said)]
    # These need a call of the course, whose line begins with `def`.
    assert unused == [
        "`{0}` is called without `{1}`: give this parameter a default value",
        "the result has no entry `{0}`",
    ]


def test_the_shapes_on_the_line_follow_the_cause():
    error = raised("Y = X + k")
    shaped = StudentError(
        error.type, error.message, error.where, "call", shapes=(("X", (2, 3, 8)), ("k", (2, 5, 8)))
    )
    assert PUBLIC.sentence(causes(shaped)[1]) == "on this line, `X` (2, 3, 8), `k` (2, 5, 8)"


def test_an_exception_of_the_students_own_has_no_cause():
    assert causes(StudentError("ValueError", "too long", None, "call")) == []

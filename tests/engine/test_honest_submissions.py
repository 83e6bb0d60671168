"""Submissions without attacks pass in this machine's best tier; statements that the tier refuses are reported."""

import pytest

HEAD = """
import torch
from torch import nn
def right(X, valid_lens):
    if valid_lens is None:
        return X.softmax(-1)
    lens = valid_lens[:, None] if valid_lens.dim() == 1 else valid_lens
    keep = torch.arange(X.shape[-1]) < lens[:, :, None]
    return X.masked_fill(~keep, -torch.inf).softmax(-1)
"""
PLAIN = "\ndef masked_softmax(X, valid_lens):\n    return right(X, valid_lens)\n"
WORKS = {
    "a training loop in the file": """
layer = nn.Linear(3, 3)
optimizer = torch.optim.Adam(layer.parameters())
for _ in range(20):
    optimizer.zero_grad()
    layer(torch.ones(2, 3)).square().mean().backward()
    optimizer.step()
"""
    + PLAIN,
    "a training loop in the call": """
def masked_softmax(X, valid_lens):
    with torch.enable_grad():
        w = nn.Parameter(torch.zeros(3))
        optimizer = torch.optim.SGD([w], lr=0.1)
        for _ in range(5):
            optimizer.zero_grad()
            (w - 1).square().sum().backward()
            optimizer.step()
    return right(X, valid_lens)
""",
    "torch.func": """
def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.func.vmap(lambda row: row.softmax(-1))(X)
    return right(X, valid_lens)
""",
    "torch.jit.script": """
@torch.jit.script
def soft(X: torch.Tensor) -> torch.Tensor:
    return torch.softmax(X, -1)
def masked_softmax(X, valid_lens):
    return soft(X) if valid_lens is None else right(X, valid_lens)
""",
    "torch.compile with the eager backend": """
soft = torch.compile(lambda X: X.softmax(-1), backend="eager")
def masked_softmax(X, valid_lens):
    return soft(X) if valid_lens is None else right(X, valid_lens)
""",
    "temporary files": """
import tempfile
def masked_softmax(X, valid_lens):
    with tempfile.TemporaryDirectory() as folder:
        torch.save(X.detach(), folder + "/x.pt")
        assert torch.equal(torch.load(folder + "/x.pt"), X)
    return right(X, valid_lens)
""",
    "threads": """
from concurrent.futures import ThreadPoolExecutor
def masked_softmax(X, valid_lens):
    with ThreadPoolExecutor(3) as pool:
        return list(pool.map(lambda _: right(X, valid_lens), range(3)))[0]
""",
    "a loader without processes": """
from torch.utils.data import DataLoader, TensorDataset
for (batch,) in DataLoader(TensorDataset(torch.ones(6, 2)), batch_size=2):
    pass
"""
    + PLAIN,
}
REFUSED = {
    "subprocess": ("import subprocess\nsubprocess.run(['ls'])", "starts no other programs"),
    "shell": ("import os\nos.system('ls')", "starts no other programs"),
    "multiprocessing": (
        "import multiprocessing\nmultiprocessing.Process(target=print).start()",
        "starts no other programs",
    ),
    "socket": ("import socket\nsocket.create_connection(('127.0.0.1', 1))", "no network"),
    "download": ("import urllib.request\nurllib.request.urlopen('http://127.0.0.1')", "no network"),
    "loader with processes": (
        "from torch.utils.data import DataLoader, TensorDataset\nnext(iter(DataLoader(TensorDataset(torch.ones(4)), num_workers=2)))",
        "use num_workers=0",
    ),
}


@pytest.mark.parametrize("source", WORKS.values(), ids=WORKS)
def test_honest_code_passes(grade_one, source):
    result = grade_one(HEAD + source, "masked_softmax")
    assert (result.outcome, result.remarks) == ("passed", ()), [
        c.message for c in result.checks if c.outcome == "failed"
    ]


@pytest.mark.parametrize(("source", "sentence"), REFUSED.values(), ids=REFUSED)
def test_a_refused_statement_is_skipped_and_reported(engine, grade, source, sentence):
    if engine.launcher.tier == "basic":
        pytest.skip("the basic tier does not refuse it")
    report = grade(HEAD + source + PLAIN, ["masked_softmax"])
    assert report.exercises[0].outcome == "passed"
    assert any(sentence in remark for remark in report.remarks), report.remarks


USING = """
import torch
from torch import nn
from grader.given import masked_softmax
SETUP_HERE
class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
    def forward(self, queries, keys, values, valid_lens=None):
        scores = SCORES_HERE
        self.attention_weights = masked_softmax(scores / keys.shape[-1] ** 0.5, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)
"""
# Values of SETUP_HERE and SCORES_HERE. The exercise forbids some calls, so the worker watches the calls.
WATCHED = {
    "torch.compile": (
        "multiply = torch.compile(lambda q, k: q @ k.mT, backend='eager')",
        "multiply(queries, keys)",
    ),
    "torch.jit.script": (
        "@torch.jit.script\ndef multiply(q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:\n    return torch.bmm(q, k.transpose(1, 2))",
        "multiply(queries, keys)",
    ),
    "torch.func": ("multiply = torch.func.vmap(lambda q, k: q @ k.mT)", "multiply(queries, keys)"),
    "checkpoint": (
        "from torch.utils.checkpoint import checkpoint",
        "checkpoint(lambda q, k: q @ k.mT, queries, keys, use_reentrant=False)",
    ),
    "autograd.Function": (
        "class Multiply(torch.autograd.Function):\n"
        "    @staticmethod\n    def forward(ctx, q, k):\n        ctx.save_for_backward(q, k)\n        return q @ k.mT\n"
        "    @staticmethod\n    def backward(ctx, g):\n        q, k = ctx.saved_tensors\n        return g @ k, g.mT @ q",
        "Multiply.apply(queries, keys)",
    ),
}


@pytest.mark.parametrize(("setup", "scores"), WATCHED.values(), ids=WATCHED)
def test_honest_code_passes_while_calls_are_watched(grade_one, bundles, setup, scores):
    assert next(e for b in bundles for e in b.exercises if e.name == "DotProductAttention").forbids
    result = grade_one(
        USING.replace("SETUP_HERE", setup).replace("SCORES_HERE", scores), "DotProductAttention"
    )
    assert (result.outcome, result.remarks) == ("passed", ()), [
        c.message for c in result.checks if c.outcome == "failed"
    ]

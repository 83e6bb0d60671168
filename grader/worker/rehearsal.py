"""A file and a case. A worker server, or a cold worker (not forked), runs them before its first request.

Parts of Python and torch are slow at their first use. Workers can read this file: nothing in it answers an exercise.
"""

from __future__ import annotations

from typing import Any

import torch

from grader.worker import results
from grader.worker import steps as do

_SOURCE = '''
import math
import torch
from torch import nn
from torch.nn import functional as F


class Rehearsal(nn.Module):
    """Uses many operations, with a result that means nothing."""

    def __init__(self, size: int, dropout: float, **kwargs):
        super().__init__(**kwargs)
        self.first = nn.Linear(size, size, bias=False)
        self.second = nn.Linear(size, size)
        self.layers = nn.Sequential(nn.ReLU(), nn.LayerNorm(size))
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("table", torch.zeros(1, 4, size))

    def forward(self, X, lengths=None):
        batch, steps, size = X.shape
        X = self.second(self.dropout(self.layers(self.first(X)))) + self.table[:, :steps, :]
        X = X.reshape(batch, steps, 2, -1).permute(0, 2, 1, 3).transpose(1, 2)
        X = X.contiguous().view(batch, steps, size).clone()
        odd = torch.arange(steps, dtype=torch.float32, device=X.device)[None, :] > 1
        X = X.masked_fill(odd[:, :, None], 0.5) * math.sqrt(2) / 3
        Y = torch.zeros(1, steps, size, dtype=X.dtype)
        Y[:, 0::2, :] = torch.sin(X[:1, 0::2, :]) + torch.cos(X[:1, 0::2, :])
        X = X + Y.detach()
        X = torch.tanh(X) - torch.cat([X, X], dim=1)[:, steps:]
        X = torch.where(X > 9, torch.exp(X), F.softmax(X.unsqueeze(2), dim=1).squeeze(2))
        lengths = torch.repeat_interleave(torch.ones(2), repeats=2, dim=0)
        self.kept = torch.bmm(X, X.transpose(1, 2)).sum(dim=-1) * lengths.mean() + X.max() ** 2
        return torch.matmul(self.kept.unsqueeze(1).to(X.dtype), X) @ X.mT
'''
LOAD: dict[str, Any] = {"units": [{"name": "rehearsal.py", "source": _SOURCE}], "given": {}}
_WEIGHTS = ("first.weight", "second.weight", "second.bias")
_STEPS: list[do.Step] = [
    do.Build("module", "Rehearsal", {"size": 4, "dropout": 0.5}),
    do.Load("module", {name: name for name in _WEIGHTS}),
    do.Mode("module", train=False),
    do.Seed(1),
    do.Input("X", grad=True),
    do.Stages("module", [do.Stage("first", ""), do.Stage("second.in0", "")]),
    do.Call("out", do.Callee(ref="module"), [do.Ref("X")], {}),
    do.See("out", do.Ref("out")),
    do.Gradients([do.Ref("out")], ["upstream"], ["X"], "module"),
    do.After("X", "X"),
]
TIMES = 3  # runs in float32: Python optimizes code that has run a few times


def cases() -> list[do.Asked]:
    """Return the case as the grader sends it, in each dtype."""
    tensors = {"first.weight": torch.eye(4), "second.weight": torch.eye(4), "second.bias": torch.ones(4)}
    tensors |= {"X": torch.ones(2, 3, 4), "upstream": torch.ones(2, 1, 3)}
    dtypes = ["float32"] * TIMES + ["float64", "float16", "bfloat16"]
    body = do.to_body([do.Asked(do.Run(_STEPS, dtype), results.packed(tensors)) for dtype in dtypes])
    return do.from_body(body)

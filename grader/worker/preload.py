"""Import the parts of torch that torch itself loads on first use. It takes a second or two, so one `grader check` does
without it, and loads only those that it uses.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def kept_heap() -> Iterator[None]:
    """Collect no garbage in the block, and exempt all objects that exist at its end from later collections.

    Imports make little garbage, and looking for it takes a tenth of the time of importing torch. In a worker, a later
    collection would copy the pages that the worker shares with the server.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@kept_heap()
def warm(training: bool = True) -> None:
    """Rehearse a case, and for a training use its other parts once. Nothing here may start a thread: afterwards, the
    server forks.

    A training takes long anyway, so a class without one does without the optimizers: they import much.
    """
    import torch

    torch.set_num_threads(1)
    if training:
        _use_each_part()
    if "grader.worker.main" in sys.modules:  # not if workers begin elsewhere (`entry` in sandbox/base.py)
        sys.modules["grader.worker.main"].rehearse()


def _use_each_part() -> None:
    import torch
    from torch import nn

    layer = nn.Linear(2, 2)
    optimizer = torch.optim.AdamW(layer.parameters())
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0)
    x = torch.ones(1, 2, requires_grad=True)
    y = nn.functional.layer_norm(layer(x), (2,))
    torch.autograd.grad(y, x, torch.ones_like(y), retain_graph=True)
    y.sum().backward()
    optimizer.step()
    scheduler.step()
    torch.func.vmap(torch.func.grad(lambda row: (row * row).sum()))(torch.ones(2, 2))
    torch.func.functional_call(layer, dict(layer.named_parameters()), (x,))
    torch.testing.assert_close(torch.zeros(1), torch.zeros(1))
    repr(y)

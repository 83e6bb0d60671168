"""Tell how a training goes while it runs: the steps done and the latest loss, seen where the loss flows back.

For show only: code that avoids `backward`, or replaces it, is told of less and graded alike.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

EVERY = 0.1  # seconds between two messages at the least

Tell = Callable[[int, int, float | None], None]  # steps done, steps in all, the loss


def nobody(done: int, steps: int, loss: float | None) -> None:
    """Tells nobody."""


@contextmanager
def telling(tell: Tell, steps: int) -> Iterator[None]:
    """Watch every backward pass, and `tell` of one now and then."""
    backward, done, told = torch.autograd.backward, 0, -math.inf

    def watched(tensors: Any, *args: Any, **kwargs: Any) -> None:
        nonlocal done, told
        backward(tensors, *args, **kwargs)
        done += 1
        if time.monotonic() - told >= EVERY:
            told = time.monotonic()
            tell(min(done, steps), steps, _number(tensors))

    torch.autograd.backward = watched
    try:
        yield
    finally:
        torch.autograd.backward = backward


def _number(loss: Any) -> float | None:
    try:
        number = float(loss.detach())
    except (AttributeError, TypeError, ValueError, RuntimeError):
        return None
    return number if math.isfinite(number) else None

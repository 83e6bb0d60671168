"""Report a training while it runs: the number of backward passes so far, and the loss of the latest one.

For display only. Code that avoids or replaces `backward` reports less, and is graded in the same way.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

EVERY = 0.1  # least time between two messages, in seconds

Progress = Callable[[int, int, float | None], None]  # steps done, steps in total, the loss


def ignore_progress(done: int, steps: int, loss: float | None) -> None:
    """Do nothing with a message."""


@contextmanager
def report_progress(callback: Progress, steps: int) -> Iterator[None]:
    """Count backward passes, and report to `callback` at most every 0.1 s. `steps` is the expected total."""
    backward, done, reported = torch.autograd.backward, 0, -math.inf

    def watched(tensors: Any, *args: Any, **kwargs: Any) -> None:
        nonlocal done, reported
        backward(tensors, *args, **kwargs)
        done += 1
        if time.monotonic() - reported >= EVERY:
            reported = time.monotonic()
            callback(min(done, steps), steps, _finite(tensors))

    torch.autograd.backward = watched
    try:
        yield
    finally:
        torch.autograd.backward = backward


def _finite(loss: Any) -> float | None:
    """Return the loss as a float; None if it is not one finite value."""
    try:
        value = float(loss.detach())
    except (AttributeError, TypeError, ValueError, RuntimeError):
        return None
    return value if math.isfinite(value) else None

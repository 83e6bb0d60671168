"""Measure what a module costs, train it for one step, and read the rows of an experiment that removes heads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

ORDERS = ("importance", "random", "reverse")  # of a removal experiment; a row holds an index into this
MAX_ROWS = 10_000


def parameter_count(module: Any) -> int:
    """Return the number of values in all parameters. Raises TypeError if the value is no module."""
    return sum(p.numel() for p in _module(module).parameters())


def flops(module: Any, args: Sequence[Any]) -> int:
    """Count the multiplications and additions of one call with torch's counter.

    It counts those of matrix products, convolutions and fused attention. Raises TypeError if the value is no module.
    """
    from torch.utils.flop_counter import FlopCounterMode

    counter = FlopCounterMode(display=False)
    with torch.no_grad(), counter:
        _module(module)(*args)
    return int(counter.get_total_flops())


def descend(module: Any, of: Any, upstream: Tensor, rate: float) -> None:
    """Do one step of gradient descent on Σ (of · upstream) with the trained parameters of the module.

    Does nothing if the sum depends on nothing that is trained. Raises TypeError if the value is no module.
    """
    parameters = _module(module).parameters()
    total = (of * upstream).sum()
    learn = [p for p in parameters if p.requires_grad]
    if not (learn and total.requires_grad):
        return
    with torch.no_grad():
        for parameter, slope in zip(learn, torch.autograd.grad(total, learn, allow_unused=True), strict=True):
            if slope is not None:
                parameter.sub_(rate * slope)


def _module(value: Any) -> nn.Module:
    if isinstance(value, nn.Module):
        return value
    raise TypeError(f"{type(value).__name__} was returned where a module was expected")


class NotRows(ValueError):
    """The value is not a list of rows; the message says what it is."""


def table(rows: Any, heads: int) -> Tensor:
    """Return N rows of a removal experiment as (N, 3 + heads): seed, order, accuracy, removed heads, then -1.

    Raises NotRows for anything else.
    """
    if not isinstance(rows, (list, tuple)):
        raise NotRows(f"{type(rows).__name__[:60]} instead of a list of rows")
    if len(rows) > MAX_ROWS:
        raise NotRows("a list of more than 10,000 rows")
    return torch.tensor([_row(row, heads) for row in rows], dtype=torch.float64).reshape(-1, 3 + heads)


def _row(row: Any, heads: int) -> list[float]:
    if not isinstance(row, Mapping):
        raise NotRows(f"a list that holds {type(row).__name__[:60]} instead of rows")
    missing = [key for key in ("seed", "order", "removed", "accuracy") if key not in row]
    if missing:
        raise NotRows(f"a row without {missing[0]!r}")
    if row["order"] not in ORDERS:
        raise NotRows("a row of another order than importance, random and reverse")
    removed = _numbers(row["removed"])
    if len(removed) > heads:
        raise NotRows("a row that removes more heads than there are")
    seed, accuracy = _number("seed", row["seed"]), _number("accuracy", row["accuracy"])
    return [seed, ORDERS.index(row["order"]), accuracy, *removed, *[-1.0] * (heads - len(removed))]


def _numbers(removed: Any) -> Sequence[float]:
    listed = removed.tolist() if hasattr(removed, "tolist") else removed
    if not isinstance(listed, (list, tuple)):
        raise NotRows("a row whose 'removed' is not a list of heads")
    return [_number("removed", head) for head in listed]


def _number(key: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise NotRows(f"a row whose {key!r} is not a number") from None

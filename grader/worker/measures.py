"""Steps that measure what a module costs, do a step of its training, or read the rows of an experiment that removes
heads. `Program` inherits them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

ORDERS = ("importance", "random", "reverse")  # of a removal experiment; a row holds an index into this
MAX_ROWS = 10_000


class Measures:
    """Run the steps of grader/cases/measures.py.

    A value that should be a module but is not raises TypeError. Rows of the wrong type are described in the reply.
    """

    env: dict[str, Any]
    tensors: Mapping[str, Tensor]
    reply: dict[str, Any]

    _value: Callable[[Any], Any]
    _observe: Callable[[str, Any], None]

    def _do_parameter_count(self, step: Mapping[str, Any]) -> None:
        module = _module(self._value(step["of"]))
        self._report(step["name"], sum(p.numel() for p in module.parameters()))

    def _do_flops(self, step: Mapping[str, Any]) -> None:
        """Count the multiplications and additions of one call with torch's counter.

        It counts those of matrix products, convolutions and fused attention.
        """
        from torch.utils.flop_counter import FlopCounterMode

        module, args = _module(self._value(step["of"])), self._value(step["args"])
        counter = FlopCounterMode(display=False)
        with torch.no_grad(), counter:
            module(*args)
        self._report(step["name"], counter.get_total_flops())

    def _do_descend(self, step: Mapping[str, Any]) -> None:
        """Do one step of gradient descent on Σ (`of` · `upstream`) with the trained parameters of the module.

        Does nothing if the sum depends on nothing that is trained.
        """
        module = _module(self._value(step["module"]))
        total = (self._value(step["of"]) * self.tensors[step["upstream"]]).sum()
        learn = [p for p in module.parameters() if p.requires_grad]
        if not (learn and total.requires_grad):
            return
        with torch.no_grad():
            for parameter, slope in zip(
                learn, torch.autograd.grad(total, learn, allow_unused=True), strict=True
            ):
                if slope is not None:
                    parameter.sub_(step["rate"] * slope)

    def _do_removals(self, step: Mapping[str, Any]) -> None:
        """Observe N rows of a removal experiment as (N, 3 + heads): seed, order, accuracy, removed heads, then -1."""
        try:
            table = _table(self._value(step["of"]), step["heads"])
        except _NotRows as odd:
            self.reply["odd"][step["name"]] = {"is": str(odd)}
        else:
            self._observe(step["name"], table)

    def _report(self, name: str, value: int | float) -> None:
        self.reply.setdefault("values", {})[name] = value


def _module(value: Any) -> nn.Module:
    if isinstance(value, nn.Module):
        return value
    raise TypeError(f"{type(value).__name__} was returned where a module was expected")


class _NotRows(ValueError):
    """The value is not a list of rows; the message says what it is."""


def _table(rows: Any, heads: int) -> Tensor:
    if not isinstance(rows, (list, tuple)):
        raise _NotRows(f"{type(rows).__name__[:60]} instead of a list of rows")
    if len(rows) > MAX_ROWS:
        raise _NotRows("a list of more than 10,000 rows")
    return torch.tensor([_row(row, heads) for row in rows], dtype=torch.float64).reshape(-1, 3 + heads)


def _row(row: Any, heads: int) -> list[float]:
    if not isinstance(row, Mapping):
        raise _NotRows(f"a list that holds {type(row).__name__[:60]} instead of rows")
    missing = [key for key in ("seed", "order", "removed", "accuracy") if key not in row]
    if missing:
        raise _NotRows(f"a row without {missing[0]!r}")
    if row["order"] not in ORDERS:
        raise _NotRows("a row of another order than importance, random and reverse")
    removed = _numbers(row["removed"])
    if len(removed) > heads:
        raise _NotRows("a row that removes more heads than there are")
    seed, accuracy = _number("seed", row["seed"]), _number("accuracy", row["accuracy"])
    return [seed, ORDERS.index(row["order"]), accuracy, *removed, *[-1.0] * (heads - len(removed))]


def _numbers(removed: Any) -> Sequence[float]:
    listed = removed.tolist() if hasattr(removed, "tolist") else removed
    if not isinstance(listed, (list, tuple)):
        raise _NotRows("a row whose 'removed' is not a list of heads")
    return [_number("removed", head) for head in listed]


def _number(key: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise _NotRows(f"a row whose {key!r} is not a number") from None

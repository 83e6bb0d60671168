"""References to values that exist while a case runs, and weights that are stored as a shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Json = Any


@dataclass(frozen=True)
class Ref:
    """A value that exists while a case runs: an input, a module, a result, or a part of one.

    at: the indices and keys that lead to the part. axes: the names of its axes.
    """

    name: str
    at: tuple[int | str, ...] = ()
    axes: tuple[str, ...] = ()

    def __getitem__(self, index: int | str) -> Ref:
        return Ref(self.name, (*self.at, index))

    def to_json(self) -> Json:
        return {"ref": self.name, "at": list(self.at)} if self.at else {"ref": self.name}


def plain(value: Any) -> Json:
    """Replace references inside lists, tuples and dicts by JSON."""
    if isinstance(value, Ref):
        return value.to_json()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value.item() if isinstance(value, np.generic) else value


@dataclass(frozen=True)
class Filled:
    """A large tensor of one value, or with one value on its diagonal, stored as its shape.

    `rows`: only the first `rows` rows have the value; the others are zero.
    """

    shape: tuple[int, ...]
    value: float = 0.0
    diagonal: bool = False
    rows: int | None = None


def zeros(*shape: int) -> Filled:
    """Return weights of this shape that are all zero."""
    return Filled(shape)


def filled(value: float, *shape: int, rows: int | None = None) -> Filled:
    """Return weights of this shape that are all `value`, or zero from row `rows` on."""
    return Filled(shape, value, rows=rows)


def eye(size: int) -> Filled:
    """Return the unit matrix (size, size), as weights."""
    return Filled((size, size), 1.0, diagonal=True)

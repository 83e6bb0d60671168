"""The inputs of a case, and the parts of it that its steps are stored in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec
import numpy as np

from grader.bundle.model import Check
from grader.bundle.safetensors import Array
from grader.bundle.steps import round_to
from grader.worker import steps as do
from grader.worker.steps import Ref, Step


class Inputs:
    """A case with its inputs; `Case` adds what happens to them, and what is observed."""

    def __init__(self, id: str, exercise: str, dtype: str = "float32", caps: bool = True):
        self.id = id
        self.exercise = exercise
        self.dtype = dtype
        self.caps = caps
        self.steps: list[Step] = []
        self.checks: list[Check] = []
        self.tensors: dict[str, Array] = {}
        self.for_judge: dict[str, Array] = {}
        self.axes: dict[str, tuple[str, ...]] = {}
        self._fresh = 0  # how many names `_name` has made
        self._axes: dict[Ref, tuple[str, ...]] = {}  # of results

    def input(self, name: str, values: Array, grad: bool = False) -> Ref:
        """Add a tensor that the student's code receives. A floating one can be differentiated (`grad=True`)."""
        self._hold(name, values)
        self._add(do.Input(name, grad))
        return Ref(name)

    def tokens(self, name: str, values: Array) -> Ref:
        """Add whole numbers from 0 to 255: stored in a byte each, passed as int64."""
        self._hold(name, _bytes(values))
        self._add(do.Tokens(name))
        return Ref(name)

    def batches(self, name: str, columns: Sequence[Array], size: int) -> Ref:
        """Add a list of batches, each a tuple with `size` rows of every column as int64; the last may have fewer.

        All values are whole numbers from 0 to 255.
        """
        names = [f"{name} {i}" for i in range(len(columns))]
        for column, values in zip(names, columns, strict=True):
            self._hold(column, _bytes(values))
        self._add(do.Batches(name, names, size))
        return Ref(name)

    def hold_for_judge(self, name: str, values: Array) -> str:
        """Store a tensor for a judge only: no worker ever receives it. Returns the name."""
        self.for_judge[name] = np.asarray(values)
        return name

    def constant(self, name: str, shape: Sequence[int], value: float = 1.0, grad: bool = False) -> Ref:
        """Add a floating tensor with one repeated value, stored as its shape."""
        self._add(do.Constant(name, list(shape), value, grad))
        return Ref(name)

    def value(self, name: str, value: Any) -> Ref:
        """Add a Python value made of lists, dicts, numbers and references."""
        self._add(do.Value(name, value))
        return Ref(name)

    def _add(self, step: Step) -> None:
        self.steps.append(as_stored(step))

    def _hold(self, name: str, values: Array) -> None:
        array = np.asarray(values)
        if array.dtype.kind == "f":
            array = round_to(array, self.dtype)
        if name in self.tensors and not np.array_equal(self.tensors[name], array):
            raise ValueError(f"case {self.id}: {name!r} is already another tensor")
        self.tensors[name] = array

    def _name(self, stem: str) -> str:
        self._fresh += 1
        return f"{stem}{self._fresh}"

    def _named(self, name: str, axes: Sequence[str]) -> Ref:
        self._axes[Ref(name)] = tuple(axes)
        return Ref(name)


T = TypeVar("T", bound=Step | Check)


def as_stored(described: T) -> T:
    """Return a step or a check as it is read from a bundle: with numbers of Python, and lists for tuples.

    Raises ValueError for a value of another type than its field has.
    """
    return msgspec.convert(msgspec.to_builtins(described, enc_hook=_number), type(described))


def _number(value: Any) -> Any:
    """Return a number of numpy as one of Python."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be stored in a case")


def _bytes(values: Array) -> Array:
    array = np.asarray(values)
    if array.min(initial=0) < 0 or array.max(initial=0) > 255:
        raise ValueError("tokens are whole numbers from 0 to 255")
    return array.astype(np.uint8)

"""Count what a call costs, the same on every machine: its operations, its largest tensor, and the values that an object
keeps.

Student code runs in this process, and what it can reach from Python it can change: a counter, a mode of dispatch, an
attribute. So torch's profiler counts, which sees operations below Python; and an object is walked as Python's garbage
collector walks it.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Sequence
from math import prod
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.profiler import profile
from torch.autograd.profiler_util import FunctionEvent

os.environ["KINETO_LOG_LEVEL"] = "9"  # otherwise the profiler prints when it starts and ends
MOST_OBJECTS = 100_000  # an object that holds more is not counted

# Matrix products: the position of the first factor, whose last axis is summed over.
_PRODUCTS = {"aten::mm": 0, "aten::bmm": 0, "aten::addmm": 1, "aten::baddbmm": 1}
_CONVOLUTION = "aten::convolution"
_ATTENTION = "aten::_scaled_dot_product_flash_attention_for_cpu"
_MARK = (1, 3, 5, 7)  # the shape of a tensor that is negated after the call
_negative = torch.neg  # as it is before student code runs


class NotCountedError(Exception):
    """The count cannot be relied on. The message says why."""


def counted(call: Callable[[], object]) -> tuple[int, int]:
    """Return the floating-point operations of a call, and the number of values of the largest tensor that an operation
    takes.

    Of the operations, those of matrix products, convolutions and fused attention count: two for each multiplication.
    The profiler does not see other threads. Raises NotCountedError if the call stopped it.
    """
    mark = torch.ones(_MARK)
    with torch.no_grad(), profile(record_shapes=True) as seen:
        call()
        _negative(mark)
    events = list(seen.function_events or ())
    if not any(
        event.name == "aten::neg" and [*map(tuple, event.input_shapes)] == [_MARK] for event in events[-1:]
    ):
        raise NotCountedError("the call stopped torch's profiler")
    shapes = (prod(shape) for event in events[:-1] for shape in event.input_shapes if shape)
    return sum(map(_operations, events)), max(shapes, default=0)


def _operations(event: FunctionEvent) -> int:
    if _repeated(event.name, event.cpu_children):  # below a mode or a subclass
        return 0
    shapes: Any = event.input_shapes
    if event.name == _ATTENTION:
        query, key, value = shapes[:3]
        return 2 * prod(query[:-1]) * key[-2] * (query[-1] + value[-1])
    if event.name == _CONVOLUTION:  # as if the result were as long as the input
        return 2 * prod(shapes[0]) // shapes[0][1] * prod(shapes[1])
    first = _PRODUCTS.get(event.name)
    return 0 if first is None else 2 * prod(shapes[first]) * shapes[first + 1][-1]


def _repeated(name: str, parts: Sequence[FunctionEvent]) -> bool:
    return any(part.name == name or _repeated(name, part.cpu_children) for part in parts)


def values_kept(value: object) -> int:
    """Return the number of values in all tensors and arrays that an object holds, itself or in what it holds, and of its
    floats; four bytes are a value. A view counts with its own size, and each object once.

    Raises NotCountedError if it holds too many objects.
    """
    seen: dict[int, object] = {}  # it keeps the objects, so that no id is used twice
    waiting, total = [value], 0
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen[id(one)] = one
        if len(seen) > MOST_OBJECTS:
            raise NotCountedError("it holds too many objects")
        found = _values(one)
        total += found or 0
        waiting += _held(one) if found is None else ()
    return total


def _values(one: Any) -> int | None:
    """Return how many values an object is; None if it is no values itself."""
    kind = type(one)
    if issubclass(kind, Tensor):
        return Tensor.numel(one)
    if issubclass(kind, np.ndarray):
        return int(np.ndarray.size.__get__(one))
    if issubclass(kind, torch.UntypedStorage):
        return torch.UntypedStorage.nbytes(one) // 4
    if issubclass(kind, (bytes, bytearray)):
        return len(memoryview(one)) // 4
    return 1 if kind is float else None


def _held(one: object) -> Sequence[object]:
    """Return what an object holds, as Python's garbage collector sees it: no code of a class runs.

    Of a function, only what it encloses: through its globals, everything is reachable.
    """
    kind = type(one)
    if issubclass(kind, (type, ModuleType)):
        return ()
    if kind is FunctionType:
        return one.__closure__ or ()  # type: ignore[attr-defined]
    return gc.get_referents(one)

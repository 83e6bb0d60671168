"""Count what a call costs, the same on every machine: its operations, its largest tensor, and the values that an object
keeps.

Student code runs in this process, and what it can reach from Python it can change: a counter, a mode of dispatch, an
attribute. So torch's profiler counts, which sees operations below Python; and an object is walked as Python's garbage
collector walks it.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from math import prod
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.profiler import profile

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
    # The events themselves: torch's own list of them takes ten times as long.
    found = seen.kineto_results.events() if seen.kineto_results else ()
    events = sorted(map(_Event, found), key=lambda event: (event.thread, event.start, -event.end))
    if not any(event.name == "aten::neg" and event.shapes == [_MARK] for event in events[-1:]):
        raise NotCountedError("the call stopped torch's profiler")
    del events[-1]
    sizes = (prod(shape) for event in events for shape in event.shapes if shape)
    return sum(map(_operations, _once(events))), max(sizes, default=0)


class _Event:
    """An operation that the profiler saw."""

    def __init__(self, event: Any):
        self.name: str = event.name()
        self.shapes: Any = [*map(tuple, event.shapes())]
        self.thread, self.start, self.end = event.start_thread_id(), event.start_ns(), event.end_ns()


def _once(events: Sequence[_Event]) -> Iterator[_Event]:
    """Yield each event inside which no event has its name: below a mode or a subclass, an operation is seen twice.

    events: of each thread one after the other, by their starts.
    """
    outer: list[_Event] = []
    repeated: set[_Event] = set()
    for event in events:
        while outer and not (event.thread == outer[-1].thread and event.end <= outer[-1].end):
            outer.pop()
        repeated.update(one for one in outer if one.name == event.name)
        outer.append(event)
    yield from (event for event in events if event not in repeated)


def _operations(event: _Event) -> int:
    shapes = event.shapes
    if event.name == _ATTENTION:
        query, key, value = shapes[:3]
        return 2 * prod(query[:-1]) * key[-2] * (query[-1] + value[-1])
    if event.name == _CONVOLUTION:  # as if the result were as long as the input
        return 2 * prod(shapes[0]) // shapes[0][1] * prod(shapes[1])
    first = _PRODUCTS.get(event.name)
    return 0 if first is None else 2 * prod(shapes[first]) * shapes[first + 1][-1]


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

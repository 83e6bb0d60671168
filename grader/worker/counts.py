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
from torch._C._autograd import (
    _disable_profiler,
    _enable_profiler,
    _KinetoEvent,
    _prepare_profiler,
    _ProfilerResult,
)
from torch.autograd.profiler import profile

os.environ["KINETO_LOG_LEVEL"] = "9"  # otherwise the profiler prints when it starts and ends
MOST_OBJECTS = 100_000  # an object that holds more is not counted

# Matrix products: the position of the first factor, whose last axis is summed over.
_PRODUCTS = {"aten::mm": 0, "aten::bmm": 0, "aten::addmm": 1, "aten::baddbmm": 1}
_CONVOLUTION = "aten::convolution"
_ATTENTION = "aten::_scaled_dot_product_flash_attention_for_cpu"
# As they are before student code runs: it can replace all of these in their modules and classes.
_begin, _end, _settings = _enable_profiler, _disable_profiler, profile(record_shapes=True)
_prepared = _prepare_profiler, _settings.config(), _settings.kineto_activities
_events, _name, _shapes = _ProfilerResult.events, _KinetoEvent.name, _KinetoEvent.shapes
_thread, _start, _stop = _KinetoEvent.start_thread_id, _KinetoEvent.start_ns, _KinetoEvent.end_ns
_negative, _random, _ones = torch.neg, os.urandom, torch.ones


class NotCountedError(Exception):
    """The count cannot be relied on. The message says why."""


def counted(call: Callable[[], object]) -> tuple[int, int]:
    """Return the floating-point operations of a call, and the number of values of the largest tensor that an operation
    takes.

    Of the operations, those of matrix products, convolutions and fused attention count: two for each multiplication.
    The profiler does not see other threads. Raises NotCountedError if the call stopped it.
    """
    # A tensor of a shape that no call knows is negated before and after it.
    shape = (1, *(byte % 16 + 1 for byte in _random(5)))
    mark = _ones(shape)
    prepare, *how = _prepared
    with torch.no_grad():
        prepare(*how)
        _begin(*how)
        try:
            _negative(mark)
            call()
            _negative(mark)
        finally:
            found = _ended()
    # The events themselves: torch's own list of them takes ten times as long.
    events = sorted(map(_Event, found), key=lambda event: (event.thread, event.start, -event.end))
    if [(event.name, event.shapes) for event in (events[:1] + events[-1:])] != [("aten::neg", [shape])] * 2:
        raise NotCountedError("the call stopped torch's profiler")
    inside = events[1:-1]
    sizes = (prod(shape) for event in inside for shape in event.shapes if shape)
    return sum(map(_operations, _once(inside))), max(sizes, default=0)


def _ended() -> Sequence[Any]:
    """End the profiler, and return what it saw; nothing if it was stopped before."""
    try:
        found: Sequence[Any] = _events(_end())
    except RuntimeError:
        found = ()
    return found


class _Event:
    """An operation that the profiler saw."""

    def __init__(self, event: Any):
        self.name: str = _name(event)
        self.shapes: Any = [*map(tuple, _shapes(event))]
        self.thread, self.start, self.end = _thread(event), _start(event), _stop(event)


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

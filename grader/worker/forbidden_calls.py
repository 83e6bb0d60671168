"""Record which of an exercise's forbidden calls were made while a case ran.

This is evidence only: a hostile file can remove it. Calls that building blocks make do not count.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from fnmatch import fnmatchcase
from functools import cache
from types import FrameType
from typing import Any

import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_pre_hook
from torch.overrides import TorchFunctionMode

_GIVEN = "given/"  # prefix of the file names that building blocks get
_TORCH = torch.__path__[0]


@contextmanager
def watching(calls: Sequence[str], found: set[str]) -> Iterator[None]:
    """Add to `found` those of `calls` ("scaled_dot_product_attention", "nn.Transformer*") that are made."""
    if not calls:
        yield
        return

    about = tuple(calls)

    def note(name: str) -> None:
        for call in _called(name, about):
            if call not in found and not _by_a_block(sys._getframe(2)):  # the caller of what called `note`
                found.add(call)

    class Mode(TorchFunctionMode):
        """Notes every call of a function of torch. This makes each call slower."""

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            note(getattr(func, "__name__", ""))
            return func(*args, **(kwargs or {}))

    def entered(module: nn.Module, args: Any) -> None:
        for kind in type(module).__mro__:
            if kind.__module__.startswith("torch.nn."):
                note(kind.__name__)

    hook = register_module_forward_pre_hook(entered)
    try:
        # The hook is enough for layers, such as "nn.Transformer*". Functions begin in lower case.
        of_layers = all(call.startswith("nn.") and call[3:4].isupper() for call in calls)
        with nullcontext() if of_layers else Mode():
            yield
    finally:
        hook.remove()


@cache
def _called(name: str, calls: tuple[str, ...]) -> tuple[str, ...]:
    """Return those of `calls` that match a name. Cached, because it is asked for every operation of torch."""
    return tuple(call for call in calls if fnmatchcase(name, call.rpartition(".")[2]))


def _by_a_block(frame: FrameType | None) -> bool:
    """Whether the innermost caller outside torch is a building block."""
    while frame is not None and (
        frame.f_code.co_filename.startswith(_TORCH) or frame.f_code.co_filename == __file__
    ):
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.startswith(_GIVEN)

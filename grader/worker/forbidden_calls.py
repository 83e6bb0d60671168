"""Record which of an exercise's forbidden calls were made while a case ran, watching only for those that the code may make.

Watching slows down each call of torch. This is evidence only: a hostile file can remove it. Calls that building blocks make do not count."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from types import FrameType
from typing import Any

import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_pre_hook
from torch.overrides import TorchFunctionMode

# Call → names. A source that contains none of them cannot make torch run the call. Calls that are not in this table
# are always watched.
_NAMES = {
    "nn.MultiheadAttention": ("MultiheadAttention", "Transformer"),
    "nn.Transformer*": ("Transformer",),
    "scaled_dot_product_attention": (
        "scaled_dot_product_attention",
        "MultiheadAttention",
        "multi_head_attention_forward",
        "Transformer",
    ),
}
_AT_RUN_TIME = re.compile(  # `.eval` is a method of modules
    r"getattr|__subclasses__|(?<!\.)\beval\b|\bexec\b|__dict__|__import__|__builtins__|\bvars\b|\bglobals\b"
)
_IMPORT = re.compile(r"\bfrom[\s\\]+([\w.]+)[\s\\]+import\b|\bimport\b([^\n;#]*)")
# Packages that make no such call by themselves, and that look up no names at run time. Calls in `grader.given` do not
# count.
_KNOWN = frozenset(
    [
        "__future__",
        "abc",
        "collections",
        "copy",
        "d2l",
        "d2lzh_pytorch",
        "dataclasses",
        "functools",
        "grader",
        "itertools",
        "math",
        "matplotlib",
        "numpy",
        "random",
        "time",
        "torch",
        "typing",
        "warnings",
    ]
)


def reachable(calls: Sequence[str], sources: tuple[str, ...]) -> list[str]:
    """Return those of `calls` that code with these sources may make."""
    return [call for call in calls if _may_be_made(call, sources)]


@lru_cache(maxsize=256)
def _may_be_made(call: str, sources: tuple[str, ...]) -> bool:
    names = _NAMES.get(call)
    return names is None or any(
        _finds_names_at_run_time(source) or any(name in _normal(source) for name in names)
        for source in sources
    )


@lru_cache(maxsize=256)
def _finds_names_at_run_time(source: str) -> bool:
    """Whether a source may look up names while it runs, or imports another package than the known ones."""
    text = _normal(source)
    if _AT_RUN_TIME.search(text):
        return True
    for module, modules in _IMPORT.findall(text):
        names = [module] if module else modules.split(",")
        packages = [name.strip().partition(" ")[0].partition(".")[0] for name in names]  # of "a.b as c": "a"
        if not _KNOWN.issuperset(packages):
            return True
    return False


def _normal(text: str) -> str:
    """Return a source with its identifiers as Python reads them."""
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


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

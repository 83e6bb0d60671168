"""Stand-ins for modules that a submission may import: building blocks, and the package of a book.

`grader.given` has the blocks that the exercise allows. Other blocks can be imported, but not used (`Withheld`). The
parent sends the sources through the pipe, so the worker cannot reach a block that answers the exercise. `d2l` and
similar packages offer the same blocks under the book's names, the book's base classes, and its names for functions
of torch.
"""

from __future__ import annotations

import linecache
import sys
import types
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from typing import Any

from grader.worker.book import Asked, StandIn, accept_both, packages

_offered: set[str] = set()  # names of the modules that this file put into sys.modules

_compiled = lru_cache(maxsize=256)(compile)
# Makes a context in which the student's parts (definitions for earlier assignments) replace the blocks.
Switch = Callable[[], AbstractContextManager[None]]


class Withheld(Asked):
    """A block that this exercise may not use. It can be imported; a call, subclass or attribute raises NameError."""

    def __init__(self, name: str):
        self._name = name

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise NameError(f"{self._name} is not among the building blocks of this exercise")

    __call__ = __mro_entries__ = _find = _refuse


_Own = tuple[Mapping[str, Any], str]  # namespace of a part's file, and the part's name in it


def _given(
    sources: Mapping[str, str], withheld: Collection[str], own: Mapping[str, _Own] | None = None
) -> StandIn:
    """Return `grader.given` while one exercise is graded: the allowed blocks, loaded when first used.

    own: parts that the student wrote, which replace the blocks of the same names; None for the blocks as they are.
    """
    loaded: dict[str, Any] = {}
    # Blocks that use the student's parts are separate modules.
    stem = "grader.given._" if own is None else "grader.given._own_"

    def find(name: str) -> Any:
        if name in loaded:
            return loaded[name]
        namespace, bound = (own or {}).get(name, ({}, ""))
        if bound in namespace:
            return namespace[bound]
        if name in withheld:
            return Withheld(name)
        if name not in sources:
            raise AttributeError(f"grader.given has no building block {name}")
        file, source = f"given/{name}.py", sources[name]
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)
        module = types.ModuleType(f"{stem}{name}")
        module.__file__ = file
        offer({module.__name__: module})
        exec(_compiled(source, file, "exec"), module.__dict__)
        loaded[name] = accept_both(getattr(module, name))
        return loaded[name]

    return StandIn("grader.given", find)


def install(
    sources: Mapping[str, str], withheld: Collection[str] = (), own: Mapping[str, _Own] | None = None
) -> Switch:
    """Put the stand-ins where `import` finds them, instead of those of the exercise before.

    own: parts that the student wrote; the caller may add more later. Return a function that makes a context manager.
    Within that context, the parts replace the blocks of the same names, also inside of other blocks.
    """
    remove()
    usual = packages(_given(sources, withheld))
    theirs = packages(_given(sources, withheld, {} if own is None else own))
    _offer(usual)

    @contextmanager
    def switch() -> Iterator[None]:
        _offer(theirs)
        try:
            yield
        finally:
            _offer(usual)

    return switch


def remove() -> None:
    """Remove the stand-ins. `_offered` lists them: in a worker, a search through sys.modules would copy a memory page
    per name.
    """
    there = sys.modules.get("grader.given")
    if there is not None and type(there) is not StandIn:  # the real package: this process is not a worker
        _offered.update(name for name in sys.modules if name.startswith(("grader.given", "d2l")))
    for name in (*_offered, "submission"):
        sys.modules.pop(name, None)
    _offered.clear()


def offer(modules: Mapping[str, types.ModuleType]) -> None:
    """Put modules where `import` finds them, until the next submission is loaded."""
    _offered.update(modules)
    sys.modules.update(modules)


def _offer(modules: Mapping[str, types.ModuleType]) -> None:
    """Offer the stand-ins, also as `grader.given`. A call of `grader.check` in the submission does nothing."""
    offer(modules)
    shown = {"given": modules["grader.given"], "check": lambda *args, **kwargs: 0.0}
    sys.modules["grader"].__dict__.update(shown)

"""Modules that a submission may import and that are not there: building blocks and a book's package.

`grader.given` holds exactly the blocks that the exercise's manifest allows, made from sources that come
over the pipe, so that no block an exercise is about lies anywhere in the worker's reach. `d2l` and its
kin offer the same blocks under the book's names and are otherwise empty-handed.
"""

from __future__ import annotations

import linecache
import sys
import types
from collections.abc import Collection, Mapping
from typing import Any


class _Silent:
    """Stands for the book's logger and progress boards: any call, any attribute, no effect."""

    def __init__(self, *args: Any, **kwargs: Any):
        pass

    def __getattr__(self, name: str) -> _Silent:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        return None


class _Withheld:
    """A block that exists and that this exercise may not use: importing it is no fault, using it is."""

    def __init__(self, name: str):
        self.__dict__["_name"] = name

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise NameError(f"{self._name} is not among the building blocks of this exercise")

    __call__ = __mro_entries__ = _refuse

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._refuse()


class _Given(types.ModuleType):
    """`grader.given` while one exercise is graded: the allowed blocks, loaded when first used."""

    def __init__(self, sources: Mapping[str, str], withheld: Collection[str]):
        super().__init__("grader.given", "The building blocks this exercise may use.")
        self.__path__: list[str] = []
        self._sources = dict(sources)
        self._withheld = frozenset(withheld)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in self._withheld:
            return _Withheld(name)
        if name not in self._sources:
            raise AttributeError(f"grader.given has no building block {name}")
        file = f"given/{name}.py"
        source = self._sources[name]
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)
        module = types.ModuleType(f"grader.given._{name}")
        module.__file__ = file
        sys.modules[module.__name__] = module
        exec(compile(source, file, "exec"), module.__dict__)
        block = getattr(module, name)
        setattr(self, name, block)
        return block


class _Book(types.ModuleType):
    """A book's helper package: the allowed blocks, the base classes, a silent logger."""

    def __init__(self, name: str, given: _Given):
        super().__init__(name)
        self.__path__: list[str] = []
        self._given = given

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in ("logger", "Logger"):
            return _Silent
        try:
            return getattr(self._given, name)
        except AttributeError:
            raise AttributeError(
                f"{self.__name__}.{name} is not here: the grader offers this course's blocks only"
            ) from None


class _OtherFramework(types.ModuleType):
    """`d2l.mxnet` and the like."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise ImportError(f"{self.__name__} is not available: these exercises are graded in PyTorch only")


def _no_check(*args: Any, **kwargs: Any) -> float:
    """`grader.check` called from a submission that is being graded: nothing to do."""
    return 0.0


def install(sources: Mapping[str, str], withheld: Collection[str] = ()) -> None:
    """Put the stand-ins where `import` finds them, in place of those of the exercise before."""
    import grader

    for name in [n for n in sys.modules if n == "submission" or n.startswith(("grader.given", "d2l"))]:
        del sys.modules[name]
    given = _Given(sources, withheld)
    book, chinese = _Book("d2l.torch", given), _Book("d2lzh_pytorch", given)
    package = _Book("d2l", given)
    others = {
        f"d2l.{name}": _OtherFramework(f"d2l.{name}") for name in ("mxnet", "tensorflow", "jax", "paddle")
    }
    sys.modules.update(
        {"grader.given": given, "d2l": package, "d2l.torch": book, "d2lzh_pytorch": chinese, **others}
    )
    package.__dict__.update(
        {"torch": book, **{name.split(".")[1]: module for name, module in others.items()}}
    )
    grader.__dict__.update({"given": given, "check": _no_check})

"""The base classes of edition 1.x of Dive into Deep Learning, and its decorator that adds a method to a class later."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from torch import nn


class HyperParameters:
    """A class whose constructor may store its arguments in one call."""

    def save_hyperparameters(self, ignore: Iterable[str] = ()) -> None:
        """Store the arguments of the calling constructor, and its other local variables, as attributes.

        Names in `ignore` and names that begin with an underscore are left out.
        """
        here = inspect.currentframe()
        caller = here.f_back if here is not None else None
        given = inspect.getargvalues(caller).locals if caller is not None else {}
        for name, value in dict(given).items():
            if name != "self" and name not in ignore and not name.startswith("_"):
                setattr(self, name, value)


class Module(nn.Module, HyperParameters):
    """The base class of models. It plots nothing, unlike the book's."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__()


def add_to_class(owner: type) -> Callable[[Any], None]:
    """Return a decorator that makes a function a method of `owner`."""

    def add(method: Any) -> None:
        setattr(owner, method.__name__, method)

    return add


BOOK_CLASSES: dict[str, Any] = {
    "HyperParameters": HyperParameters,
    "Module": Module,
    "add_to_class": add_to_class,
}

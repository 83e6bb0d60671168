"""Choose which of many parameters run in `make test`. `make test-all` runs all of them."""

from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

import pytest

T = TypeVar("T")


def first_of_each(
    items: Iterable[T],
    key: Callable[[T], Hashable] = lambda item: None,
    name: Callable[[T], str] = str,
) -> list[Any]:
    """Return parameters for `parametrize`: all but the first of each key are marked slow.

    Without a key, all but the first of all.
    """
    seen: set[Hashable] = set()
    out = []
    for item in items:
        marks = [pytest.mark.slow] if key(item) in seen else []
        seen.add(key(item))
        out.append(pytest.param(item, id=name(item), marks=marks))
    return out

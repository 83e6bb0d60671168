"""Choose what of a long list of parameters runs in `make test`; `make test-all` runs all of it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeVar

import pytest

T = TypeVar("T")


def first_of_each(items: Iterable[T], key: Callable[[T], Hashable], name: Callable[[T], str]) -> list[Any]:
    """Return parameters for `parametrize`: all but the first of each key are marked slow."""
    seen: set[Hashable] = set()
    out = []
    for item in items:
        marks = [pytest.mark.slow] if key(item) in seen else []
        seen.add(key(item))
        out.append(pytest.param(item, id=name(item), marks=marks))
    return out

"""Read plain data, as JSON or TOML gives it, as dataclasses whose fields are checked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import cache
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from grader.support.i18n import _


def read(value: Any, kind: Any, key: str = "") -> Any:
    """Return a value as a `kind`: a dataclass, a tuple, a mapping, a Literal, an optional or a plain type.

    Raises ValueError with the key for a value of another type, a number that is not finite, an unknown key, and a
    missing key without a default.
    """
    origin, parts = get_origin(kind), get_args(kind)
    if NoneType in parts:
        return None if value is None else read(value, parts[0], key)
    if hasattr(kind, "__dataclass_fields__") and isinstance(value, dict):
        types = _types(kind)
        needed = {f.name for f in fields(kind) if f.default is f.default_factory is MISSING}
        for name in [*(value.keys() - types.keys()), *(needed - value.keys())]:
            raise ValueError(_("the key {key} is unknown or missing").format(key=f"{key}{name}"))
        return kind(**{name: read(part, types[name], f"{key}{name}.") for name, part in value.items()})
    if origin is Mapping and isinstance(value, dict):
        return {name: read(part, parts[1], f"{key}{name}.") for name, part in value.items()}
    if origin is tuple and isinstance(value, list):
        return tuple(read(part, parts[0], key) for part in value)
    as_literal = origin is Literal and value in parts
    as_number = kind is float and type(value) in (int, float) and math.isfinite(value)
    if as_literal or as_number or (type(value) is kind and kind is not float) or kind is Any:
        return value
    raise ValueError(_("{key} has the wrong type or value").format(key=key.rstrip(".")))


@cache
def _types(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)

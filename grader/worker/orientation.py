"""Find out whether bare square parameters are (in, out), for `x @ W`, or (out, in), for `F.linear(x, W)`.

A bare parameter is one that, by its name, is in no layer of torch; see `is_bare`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from grader.worker.parameter_names import is_bare

Build = Callable[[Mapping[str, Any]], nn.Module]


def held_as_linear(module: nn.Module, build: Build, kwargs: Mapping[str, Any]) -> frozenset[str]:
    """Return the names of the bare square parameters that are (out, in).

    `build` makes a second module with other input sizes. A matrix is (out, in) if only its second axis differs between
    the two modules. If this is true of all matrices that differ, those that do not differ count as (out, in), too.
    """
    inputs = [name for name in ("key_size", "query_size", "value_size") if isinstance(kwargs.get(name), int)]
    bare = _bare_shapes(module) if inputs else {}
    square = {name for name, shape in bare.items() if shape[0] == shape[1]}
    if not square:
        return frozenset()
    more = {name: kwargs[name] + number for number, name in enumerate(inputs, 1)}
    try:
        with torch.random.fork_rng(devices=()):
            other = _bare_shapes(build({**kwargs, **more}))
    except Exception:  # the student's constructor may refuse other sizes
        return frozenset()
    changed = {name for name, shape in other.items() if shape != bare.get(name, shape)}
    as_linear = {name for name in changed if other[name][0] == bare[name][0]}
    return frozenset(square if as_linear and as_linear == changed else square & as_linear)


def _bare_shapes(module: nn.Module) -> dict[str, tuple[int, ...]]:
    own = ((name, p) for name, p in module.named_parameters() if is_bare(name) and not is_lazy(p))
    return {name: tuple(p.shape) for name, p in own if p.dim() == 2}

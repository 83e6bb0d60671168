"""Read the attention weights that a module stores, in any form that students store them in."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import torch
from torch import Tensor, nn

from grader.worker.steps import Weights


def of(owner: Any, step: Weights) -> tuple[Any, bool]:
    """Return `.attention_weights`, and whether it had a list with one tensor per head, or per decoding step.

    It is a tensor, such as (B, T, S), or a list of tensors of one shape: one per head or, if the step has `steps`, one
    per decoding step. Such a list is stacked along a new first axis. If the step has `layers`, the list has one entry
    per layer, and each entry may be a list with one tensor per head.
    """
    if step.layers:
        weights = _of_layers(owner, step.part)
        heads = weights[0] if isinstance(weights, (list, tuple)) and weights else None
    else:
        # Only the decoder itself collects one tensor per step; its attention holds the last one.
        one = step.steps is None
        weights = heads = _first(owner) if one else getattr(owner, "attention_weights", None)
    stacked = _stacked(weights, 2 if step.layers else 1)
    return stacked, isinstance(heads, (list, tuple)) and isinstance(stacked, Tensor)


def _first(module: Any) -> Any:
    """Return `.attention_weights` of the module, else of its first submodule that has some."""
    for part in module.modules() if isinstance(module, nn.Module) else (module,):
        weights = getattr(part, "attention_weights", None)
        if weights is not None:
            return weights
    return None


def _of_layers(stack: Any, part: int | None) -> Any:
    """Return `.attention_weights` of a stack of layers, or one part of a pair; None if no tensor is stored there."""
    weights: Any = None
    with suppress(Exception):  # the property of a base class may only raise NotImplementedError
        weights = stack.attention_weights
    if not _holds_a_tensor(weights):
        return None
    return weights if part is None or len(weights) != 2 else weights[part]


def _holds_a_tensor(value: Any) -> bool:
    return isinstance(value, Tensor) or (
        isinstance(value, (list, tuple)) and any(map(_holds_a_tensor, value))
    )


def _stacked(value: Any, levels: int) -> Any:
    """Stack a list of tensors of one shape along a new first axis. levels: how many lists may be inside each other.

    Any other value is returned as it is.
    """
    if not levels or not isinstance(value, (list, tuple)):
        return value
    parts = [_stacked(part, levels - 1) for part in value]
    alike = all(isinstance(part, Tensor) for part in parts) and len({part.shape for part in parts}) == 1
    return torch.stack(parts) if alike else value

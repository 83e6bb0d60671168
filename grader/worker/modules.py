"""Move a module to a device, fill the parameters that no weight fits, and differentiate with respect to parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from grader.worker.layouts import Fit

_PLAIN = (Tensor, nn.Parameter)


def move(module: nn.Module, dtype: torch.dtype, device: torch.device) -> None:
    """Move a module to a device and a dtype. Its parameters keep their hooks, as they do on a GPU.

    Tensors of the simulated device are a subclass: torch makes new parameters and leaves the hooks with the
    old ones. Most modules need no move; `module.to` would take time nevertheless, so it is not called for them.
    """
    before = dict(module.named_parameters())
    tensors = (*before.values(), *dict(module.named_buffers()).values())
    if all(type(t) in _PLAIN and t.dtype == dtype and t.device == device for t in tensors):
        return
    module.to(device=device, dtype=dtype)
    for name, parameter in module.named_parameters():
        if name in before and parameter is not before[name]:
            for hook in (before[name]._backward_hooks or {}).values():
                parameter.register_hook(hook)


def parameters(module: nn.Module) -> dict[str, nn.Parameter]:
    return dict(module.named_parameters(remove_duplicate=False))


def fill_the_rest(own: Mapping[str, Tensor], found: Fit) -> None:
    """Fill unexpected and misshapen parameters with fixed values, so that every run is the same."""
    with torch.no_grad():
        for name in (*found.unexpected, *found.misshapen):
            target = own[found.own_names.get(name, name)]
            numbers = torch.arange(target.numel(), dtype=torch.float64)
            target.copy_(torch.cos(numbers).reshape(target.shape) / 2)


def gradients(total: Any, leaves: list[Tensor]) -> list[Tensor]:
    """Return gradients of a scalar with respect to each leaf; zeros where the scalar does not depend on it."""
    wanted = [leaf for leaf in leaves if leaf.requires_grad]
    if not wanted or not (isinstance(total, Tensor) and total.requires_grad):
        return [torch.zeros_like(leaf) for leaf in leaves]
    found = iter(torch.autograd.grad(total, wanted, allow_unused=True))
    out = [next(found) if leaf.requires_grad else None for leaf in leaves]
    return [torch.zeros_like(leaf) if g is None else g for leaf, g in zip(leaves, out, strict=True)]

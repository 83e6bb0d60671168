"""What the grader does with a module: move it, differentiate, train it for one step, measure what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

_PLAIN = (Tensor, nn.Parameter)


def move(module: nn.Module, dtype: torch.dtype, device: torch.device) -> None:
    """Move a module to a device and a dtype. Its parameters keep their hooks, as they do on a GPU.

    In float32 it keeps its dtypes: nobody converts a module to the dtype that torch gives it anyway.

    Tensors of the simulated device are a subclass: torch makes new parameters and leaves the hooks with the
    old ones. Most modules need no move; `module.to` would take time nevertheless, so it is not called for them.
    """
    tensors = (
        t
        for part in module.modules()
        for t in (*part._parameters.values(), *part._buffers.values())
        if t is not None
    )
    as_built = dtype == torch.float32
    if all(type(t) in _PLAIN and (as_built or t.dtype == dtype) and t.device == device for t in tensors):
        return
    before = parameters(module)
    module.to(device=device, dtype=None if as_built else dtype)
    after, first = parameters(module), dict[int, str]()
    for name, parameter in before.items():
        one = first.setdefault(id(parameter), name)
        moved = after[one]
        if name != one:  # one parameter with two names stays one
            owner, _, last = name.rpartition(".")
            setattr(module.get_submodule(owner), last, moved)
        elif moved is not parameter:
            for hook in (parameter._backward_hooks or {}).values():
                moved.register_hook(hook)


def parameters(module: nn.Module) -> dict[str, nn.Parameter]:
    return dict(module.named_parameters(remove_duplicate=False))


def gradients(total: Any, leaves: Sequence[Tensor]) -> list[Tensor]:
    """Return gradients of a scalar with respect to each leaf; zeros where the scalar does not depend on it."""
    wanted = [leaf for leaf in leaves if leaf.requires_grad]
    if not wanted or not (isinstance(total, Tensor) and total.requires_grad):
        return [torch.zeros_like(leaf) for leaf in leaves]
    found = iter(torch.autograd.grad(total, wanted, allow_unused=True))
    out = [next(found) if leaf.requires_grad else None for leaf in leaves]
    return [torch.zeros_like(leaf) if g is None else g for leaf, g in zip(leaves, out, strict=True)]


def descend(module: Any, of: Any, upstream: Tensor, rate: float) -> None:
    """Do one step of gradient descent on Σ (of · upstream) with the trained parameters of the module.

    Raises TypeError if the value is no module.
    """
    learn = [p for p in as_module(module).parameters() if p.requires_grad]
    slopes = gradients((of * upstream).sum(), learn)
    with torch.no_grad():
        for parameter, slope in zip(learn, slopes, strict=True):
            parameter.sub_(rate * slope)


def parameter_count(module: Any) -> int:
    """Return the number of values in all parameters. Raises TypeError if the value is no module."""
    return sum(p.numel() for p in as_module(module).parameters())


def as_module(value: Any) -> nn.Module:
    """Return the module. Raises TypeError for any other value."""
    if isinstance(value, nn.Module):
        return value
    raise TypeError(f"{type(value).__name__} was returned where a module was expected")

"""Prepare results to leave the worker: a plain copy of a tensor, or a description of anything else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import safetensors.numpy
import safetensors.torch
import torch
from torch import Tensor

MAX_VALUES = 1 << 22  # values of one tensor that are sent; for a larger one only its shape is

_SENT = frozenset(
    (
        *(torch.float64, torch.float32, torch.float16, torch.bfloat16),
        *(torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool),
    )
)


def plain_copy(value: Any, device: torch.device) -> Tensor | Mapping[str, Any]:
    """Return a contiguous detached copy on the CPU, or what the value `is` if it cannot be sent.

    device: the device that the program runs on.
    """
    if not issubclass(type(value), Tensor):  # isinstance would ask the value itself
        return {"is": kind_of(value)}
    with torch._C.DisableTorchFunctionSubclass():
        plain = Tensor.detach(value)
        if device.type != "cpu":
            plain = plain.to("cpu")
        odd = _unsendable(plain)
        return plain.to("cpu").clone(memory_format=torch.contiguous_format) if odd is None else odd


def _unsendable(plain: Tensor) -> Mapping[str, Any] | None:
    """Describe a tensor that cannot be sent; None for one that can."""
    if type(plain) is not Tensor:
        return {"is": kind_of(plain)}
    if (
        plain.layout is not torch.strided
        or plain.device.type == "meta"
        or plain.is_complex()
        or plain.is_quantized
        or plain.is_nested
    ):
        return {"is": f"a {plain.layout} tensor on {plain.device.type}"}
    if plain.dtype not in _SENT:
        return {"is": f"a tensor of {plain.dtype}"}
    if plain.numel() > MAX_VALUES:
        return {"is": "a tensor", "shape": list(plain.shape)}
    return None


def kind_of(value: Any) -> str:
    """Describe what was returned instead of a tensor: "a tuple of 2", "None", "a list of 3", "a float"."""
    if value is None:
        return "None"
    name = str(type(value).__name__)[:60]
    article = "an" if name[:1].lower() in "aeiou" else "a"
    return f"{article} {name} of {len(value)}" if type(value) in (tuple, list, dict) else f"{article} {name}"


def packed(tensors: dict[str, Tensor]) -> bytes:
    """Encode as safetensors. Through numpy that is four times as fast, but numpy has no bfloat16."""
    if any(tensor.dtype is torch.bfloat16 for tensor in tensors.values()):
        return safetensors.torch.save(tensors)
    return safetensors.numpy.save({name: tensor.numpy() for name, tensor in tensors.items()})

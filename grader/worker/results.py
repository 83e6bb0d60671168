"""Copy what student code returned into plain tensors that can be sent: tensors, and sentences as rows of one tensor."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

MAX_VALUES = 1 << 22  # elements; of a tensor with more, only the shape is sent

# The dtypes that are sent, and what safetensors calls them (https://github.com/huggingface/safetensors).
_SENT = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.int16: "I16",
    torch.int8: "I8",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}


def plain_copy(value: Any, device: torch.device) -> Tensor | Mapping[str, Any]:
    """Return a contiguous detached copy on the CPU, or {"is": description} of a value that cannot be sent.

    device: the device that the program runs on.
    """
    # `isinstance` would read `__class__`, which student code may define.
    if not issubclass(type(value), Tensor):
        return {"is": kind_of(value)}
    with torch._C.DisableTorchFunctionSubclass():
        plain = Tensor.detach(value)
        if device.type != "cpu":  # makes a `SimTensor` a plain tensor, which `_unsendable` accepts
            plain = plain.to("cpu")
        odd = _unsendable(plain)
        if odd is not None:
            return odd
        plain = plain if plain.device.type == "cpu" else plain.to("cpu")
        return plain.clone(memory_format=torch.contiguous_format)


def _unsendable(plain: Tensor) -> Mapping[str, Any] | None:
    """Describe a tensor that cannot be sent; None for one that can."""
    if type(plain) is not Tensor:
        return {"is": kind_of(plain)}
    if plain.dtype in _SENT and plain.layout is torch.strided and not plain.is_nested and not plain.is_meta:
        large = plain.numel() > MAX_VALUES
        return {"is": "a tensor", "shape": list(plain.shape)} if large else None
    if (
        plain.layout is not torch.strided
        or plain.device.type == "meta"
        or plain.is_complex()
        or plain.is_quantized
        or plain.is_nested
    ):
        return {"is": f"a {plain.layout} tensor on {plain.device.type}"}
    return {"is": f"a tensor of {plain.dtype}"}


def kind_of(value: Any) -> str:
    """Describe what was returned instead of a tensor: "a tuple of 2", "None", "a list of 3", "a float"."""
    if value is None:
        return "None"
    name = str(type(value).__name__)[:60]
    article = "an" if name[:1].lower() in "aeiou" else "a"
    return f"{article} {name} of {len(value)}" if type(value) in (tuple, list, dict) else f"{article} {name}"


def packed(tensors: Mapping[str, Tensor]) -> bytes:
    """Encode plain copies as safetensors: the length of a header, the header, the values.

    `safetensors.torch.save` would take longer than most cases take to compute their tensors.
    """
    header, parts, end = {}, [], 0
    for name, tensor in tensors.items():
        # numpy has no bfloat16
        parts.append(
            (tensor.view(torch.int16) if tensor.dtype is torch.bfloat16 else tensor).numpy().tobytes()
        )
        start, end = end, end + len(parts[-1])
        header[name] = {"dtype": _SENT[tensor.dtype], "shape": tensor.shape, "data_offsets": (start, end)}
    head = json.dumps(header).encode()
    return b"".join((len(head).to_bytes(8, "little"), head, *parts))


EMPTY = -1  # pads shorter rows
LARGEST = 1 << 62  # token numbers are below it, so that they fit in int64
MOST = 1000  # the most sentences, and the most tokens per sentence


def in_rows(sentences: Any) -> tuple[Tensor, bool] | None:
    """Return B sentences as one int64 tensor (B, longest), padded with EMPTY, and whether any row had to be padded.

    Returns None for any other value.

    A sentence is a tensor, or a list or tuple of whole numbers or of tensors with one value.
    """
    try:
        rows = [_row(sentence) for sentence in _listed(sentences)]
    except (TypeError, ValueError, RuntimeError):
        return None
    out = torch.full((len(rows), max(map(len, rows), default=0)), EMPTY, dtype=torch.int64)
    for place, row in enumerate(rows):
        out[place, : len(row)] = torch.tensor(row, dtype=torch.int64)
    return out, len(set(map(len, rows))) > 1


def _listed(value: Any) -> list[Any]:
    if isinstance(value, Tensor):
        value = value.detach().to("cpu").tolist()
    if not isinstance(value, (list, tuple)) or len(value) > MOST:
        raise TypeError("not a list")
    return list(value)


def _row(sentence: Any) -> list[int]:
    if isinstance(sentence, Tensor):
        sentence = sentence.reshape(-1)
    return [_token(token) for token in _listed(sentence)]


def _token(token: Any) -> int:
    if isinstance(token, Tensor):
        token = token.item()
    is_whole = isinstance(token, int) or (isinstance(token, float) and token.is_integer())
    if not is_whole or abs(token) >= LARGEST:
        raise TypeError("not a token number")
    return int(token)

"""Read what student code returned or stored as plain tensors that can be sent.

A result may be a tensor, sentences, attention weights in any form that students store, or the rows of an experiment.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor, nn

from grader.worker.steps import Weights

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


# ---- sentences

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


# ---- attention weights


def attention_weights(owner: Any, step: Weights) -> tuple[Any, bool]:
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


# ---- the rows of an experiment that removes heads

ORDERS = ("importance", "random", "reverse")  # a row holds an index into this
MAX_ROWS = 10_000


class NotRows(ValueError):
    """The value is not a list of rows; the message says what it is."""


def removals(rows: Any, heads: int) -> Tensor:
    """Return N rows of a removal experiment as (N, 3 + heads): seed, order, accuracy, removed heads, then -1.

    Raises NotRows for anything else.
    """
    if not isinstance(rows, (list, tuple)):
        raise NotRows(f"{type(rows).__name__[:60]} instead of a list of rows")
    if len(rows) > MAX_ROWS:
        raise NotRows("a list of more than 10,000 rows")
    return torch.tensor([_removal(row, heads) for row in rows], dtype=torch.float64).reshape(-1, 3 + heads)


def _removal(row: Any, heads: int) -> list[float]:
    if not isinstance(row, Mapping):
        raise NotRows(f"a list that holds {type(row).__name__[:60]} instead of rows")
    missing = [key for key in ("seed", "order", "removed", "accuracy") if key not in row]
    if missing:
        raise NotRows(f"a row without {missing[0]!r}")
    if row["order"] not in ORDERS:
        raise NotRows("a row of another order than importance, random and reverse")
    removed = _numbers(row["removed"])
    if len(removed) > heads:
        raise NotRows("a row that removes more heads than there are")
    seed, accuracy = _number("seed", row["seed"]), _number("accuracy", row["accuracy"])
    return [seed, ORDERS.index(row["order"]), accuracy, *removed, *[-1.0] * (heads - len(removed))]


def _numbers(removed: Any) -> Sequence[float]:
    listed = removed.tolist() if hasattr(removed, "tolist") else removed
    if not isinstance(listed, (list, tuple)):
        raise NotRows("a row whose 'removed' is not a list of heads")
    return [_number("removed", head) for head in listed]


def _number(key: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise NotRows(f"a row whose {key!r} is not a number") from None

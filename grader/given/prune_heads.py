"""Remove heads from an attention, so that it is smaller and does less work."""

from collections.abc import Iterable

import torch
from torch import nn

from grader.given import MultiHeadAttention

__all__ = ["prune_heads"]


def prune_heads(mha: MultiHeadAttention, heads: Iterable[int]) -> MultiHeadAttention:
    """Remove heads in place and return the module. Its output then equals that of
    `gated_attention` with the gate 0 for these heads and 1 for the others.

    heads: indices of heads as in `mha`, in any order. Raises ValueError if no head is left, and for an index
    that is out of range.
    """
    total, gone = mha.num_heads, {int(head) for head in heads}
    if not gone <= set(range(total)):
        raise ValueError(f"heads {sorted(gone - set(range(total)))} are not among 0 to {total - 1}")
    kept = sorted(set(range(total)) - gone)
    if not kept:
        raise ValueError(f"all {total} heads would be removed; one must stay")
    for name in ("W_q", "W_k", "W_v"):
        layer = getattr(mha, name)
        bias = None if layer.bias is None else _blocks(layer.bias, total, kept)
        setattr(mha, name, _linear(_blocks(layer.weight, total, kept), bias, layer.training))
    out = mha.W_o
    mha.W_o = _linear(_blocks(out.weight.T, total, kept).T, out.bias, out.training)
    mha.num_heads = len(kept)
    return mha


def _blocks(rows: torch.Tensor, total: int, kept: list[int]) -> torch.Tensor:
    """Select the rows of the heads that stay: (total·d, …) to (kept·d, …)."""
    return rows.detach().unflatten(0, (total, -1))[kept].flatten(0, 1)


def _linear(weight: torch.Tensor, bias: torch.Tensor | None, training: bool) -> nn.Linear:
    out_features, in_features = weight.shape
    layer = nn.Linear(in_features, out_features, bias is not None, weight.device, weight.dtype)
    layer.load_state_dict({"weight": weight} | ({} if bias is None else {"bias": bias.detach()}))
    return layer.train(training)

"""Multi-head attention with a gate for every head (Michel et al. 2019, section 2.3)."""

import torch
from torch import nn

from grader.given import MultiHeadAttention

__all__ = ["gated_attention"]


def gated_attention(
    mha: MultiHeadAttention,
    gates: torch.Tensor,
    queries: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    valid_lens: torch.Tensor | None = None,
) -> torch.Tensor:
    """Return what `mha` returns when head `h` is multiplied by its gate before `W_o`: (B, T, D).

    gates: (H,), or (B, H) with separate gates for every sequence. If all gates are one, nothing changes.
    """

    def gate(_layer: nn.Module, inputs: tuple[torch.Tensor]) -> torch.Tensor:
        heads = inputs[0].unflatten(-1, (gates.size(-1), -1))  # (B, T, H, d)
        return (heads * gates.unsqueeze(-2).unsqueeze(-1)).flatten(-2)  # (B, T, D)

    handle = mha.W_o.register_forward_pre_hook(gate)
    try:
        return mha(queries, keys, values, valid_lens)
    finally:
        handle.remove()

"""Multi-head attention with a number in front of every head (Michel et al. 2019, section 2.2)."""

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
    """What `mha` gives when head `h` is multiplied by its gate before `W_o`: (B, T, D).

    gates: (H,), or (B, H) with gates of its own for every sequence. All ones change nothing.
    """

    def gate(_layer: nn.Module, inputs: tuple[torch.Tensor]) -> torch.Tensor:
        heads = inputs[0].unflatten(-1, (gates.size(-1), -1))  # (B, T, H, d)
        return (heads * gates.unsqueeze(-2).unsqueeze(-1)).flatten(-2)  # (B, T, D)

    handle = mha.W_o.register_forward_pre_hook(gate)
    try:
        return mha(queries, keys, values, valid_lens)
    finally:
        handle.remove()

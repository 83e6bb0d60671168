"""One sequence of wide vectors becomes a sequence of narrow ones for each head."""

import torch

__all__ = ["transpose_qkv"]


def transpose_qkv(X: torch.Tensor, num_heads: int) -> torch.Tensor:
    """(B, T, D) → (B·H, T, d): row `b·H + h` is head `h` of sequence `b`."""
    return X.unflatten(-1, (num_heads, -1)).transpose(1, 2).flatten(0, 1)

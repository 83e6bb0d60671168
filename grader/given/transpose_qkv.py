"""Split the features of a sequence into heads."""

import torch

__all__ = ["transpose_qkv"]


def transpose_qkv(X: torch.Tensor, num_heads: int) -> torch.Tensor:
    """Reshape (B, T, D) to (B·H, T, d): row `b·H + h` is head `h` of sequence `b`."""
    return X.unflatten(-1, (num_heads, -1)).transpose(1, 2).flatten(0, 1)

"""Merge the heads again: the inverse of `transpose_qkv`."""

import torch

__all__ = ["transpose_output"]


def transpose_output(X: torch.Tensor, num_heads: int) -> torch.Tensor:
    """Reshape (B·H, T, d) to (B, T, D): first the features of head 0, then those of head 1, and so on."""
    return X.unflatten(0, (-1, num_heads)).transpose(1, 2).flatten(2)

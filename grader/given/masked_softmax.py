"""Softmax over the keys without the padding."""

import torch
from torch.nn import functional as F

__all__ = ["masked_softmax"]


def masked_softmax(X: torch.Tensor, valid_lens: torch.Tensor | None) -> torch.Tensor:
    """Compute the softmax over the last axis, without the keys after each length.

    X: (B, T, S); valid_lens: None, (B,) or (B, T). Returns a new tensor (B, T, S); rows sum to one.
    """
    if valid_lens is None:
        return F.softmax(X, dim=-1)
    lens = valid_lens.reshape(X.size(0), -1, 1)  # (B, 1 or T, 1)
    padding = torch.arange(X.size(-1), device=X.device).ge(lens)  # (B, 1 or T, S)
    return F.softmax(torch.where(padding, torch.finfo(X.dtype).min, X), dim=-1)

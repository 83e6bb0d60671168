"""Repeat key heads for the query heads that share them."""

import torch

__all__ = ["repeat_kv"]


def repeat_kv(x: torch.Tensor, n_rep: int) -> torch.Tensor:
    """Return each head of x (B, H_kv, S, d) n_rep times, copies next to each other: (B, H_kv · n_rep, S, d)."""
    index = torch.arange(x.size(1) * n_rep, device=x.device).div(n_rep, rounding_mode="floor")
    return x.index_select(1, index)

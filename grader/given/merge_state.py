"""Merge the attention to two sets of keys into the attention to all of them."""

import torch

__all__ = ["merge_state"]


def merge_state(
    out_a: torch.Tensor, lse_a: torch.Tensor, out_b: torch.Tensor, lse_b: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Merge outputs (..., T, v) with their log-sum-exps (..., T). A state without keys is (0, -inf)."""
    lse = torch.logaddexp(lse_a, lse_b)
    base = lse.clamp(min=torch.finfo(lse.dtype).min)  # finite, if both are empty
    parts = [out * (own - base).exp()[..., None] for out, own in ((out_a, lse_a), (out_b, lse_b))]
    return sum(parts).to(out_a), lse

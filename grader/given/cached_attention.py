"""Causal attention of new steps to all steps of a cache and to themselves."""

import torch
from torch.nn import functional as F

__all__ = ["cached_attention"]


def cached_attention(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, cache: object
) -> torch.Tensor:
    """Append keys and values (B, H, T, d) to the cache, and attend. Returns (B, H, T, d)."""
    all_keys, all_values = cache.append(keys, values)  # type: ignore[attr-defined]
    new, total = keys.size(2), all_keys.size(2)
    step = torch.arange(total, device=queries.device)
    visible = step <= step[total - new :, None]  # (T, S)
    return F.scaled_dot_product_attention(queries, all_keys, all_values, attn_mask=visible)

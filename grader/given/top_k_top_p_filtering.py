"""Cut the tail of a distribution (Fan et al. 2018; Holtzman et al. 2020)."""

import torch

__all__ = ["top_k_top_p_filtering"]


def top_k_top_p_filtering(logits: torch.Tensor, top_k: int = 0, top_p: float = 1.0) -> torch.Tensor:
    """Return logits (…, V) with −inf for what is left out: first all but the best k, then all but the best mass p."""
    ordered, order = logits.sort(dim=-1, descending=True)
    rank = torch.arange(logits.size(-1), device=logits.device)
    if top_k > 0:
        ordered = ordered.masked_fill(rank >= top_k, float("-inf"))
    if top_p < 1:
        mass = ordered.softmax(-1, dtype=torch.promote_types(logits.dtype, torch.float32))
        before = mass.cumsum(-1) - mass  # the mass of all better tokens
        ordered = ordered.masked_fill((before >= top_p) & (rank > 0), float("-inf"))
    return ordered.gather(-1, order.argsort(-1))

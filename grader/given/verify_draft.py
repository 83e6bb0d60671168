"""Keep as many drafted tokens as chance allows, and add one (Leviathan et al. 2023; Chen et al. 2023)."""

import torch

from grader.given import sample_token

__all__ = ["verify_draft"]


def verify_draft(
    target_probs: torch.Tensor,
    draft_probs: torch.Tensor,
    draft_tokens: torch.Tensor,
    u_accept: torch.Tensor,
    u_sample: torch.Tensor | float,
) -> torch.Tensor:
    """Return n accepted tokens and one more, (n + 1,), of (K+1, V), (K, V), (K,), (K,) and one draw."""
    K = draft_tokens.numel()
    p, q = (probs[:K].gather(1, draft_tokens[:, None])[:, 0] for probs in (target_probs, draft_probs))
    n = int((u_accept < p / q).long().cumprod(0).sum())
    rest = (target_probs[n] - draft_probs[n]).relu() if n < K else target_probs[n]
    if not rest.any():  # rounding has left nothing
        rest = target_probs[n]
    return torch.cat([draft_tokens[:n], sample_token(rest / rest.sum(), u_sample).reshape(1)])

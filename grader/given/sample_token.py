"""Draw a token by inverting the cumulative distribution."""

import torch

__all__ = ["sample_token"]


def sample_token(probs: torch.Tensor, u: torch.Tensor | float) -> torch.Tensor:
    """Return the tokens (…), int64, of probs (…, V) for draws u (…) in [0, 1), or one u for all rows."""
    u = torch.as_tensor(u, dtype=torch.float64, device=probs.device).expand(probs.shape[:-1])
    edges = probs.double().cumsum(-1)  # (…, V)
    found = torch.searchsorted(edges, u.unsqueeze(-1).contiguous(), right=True).squeeze(-1)
    # The sum may be rounded to less than u, and then the last possible token is meant.
    last = probs.size(-1) - 1 - probs.flip(-1).gt(0).int().argmax(-1)
    return torch.minimum(found, last)

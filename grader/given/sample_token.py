"""Draw a token by inverting the cumulative distribution."""

import torch

__all__ = ["sample_token"]


def sample_token(probs: torch.Tensor, u: torch.Tensor | float) -> torch.Tensor:
    """Return the tokens (…), int64, of probs (…, V) for draws u (…) in [0, 1), or one u for all rows."""
    u = torch.as_tensor(u, dtype=torch.float64, device=probs.device).unsqueeze(-1)
    found = probs.double().cumsum(-1).le(u).sum(-1)  # (…): that many pieces end at u or before
    # The sum may be rounded to less than u, and then the last possible token is meant.
    last = probs.size(-1) - 1 - probs.flip(-1).gt(0).int().argmax(-1)
    return torch.minimum(found, last)

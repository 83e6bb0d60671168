"""Turn the pairs of neighbouring features of queries or keys (Su et al. 2021)."""

import torch

from grader.given import rotary_angles

__all__ = ["apply_rotary"]


def apply_rotary(x: torch.Tensor, positions: torch.Tensor, base: float = 10000.0) -> torch.Tensor:
    """Turn x (B, H, T, d) by the angles of positions (T,) or (B, T). Returns (B, H, T, d) in the dtype of x."""
    angle = rotary_angles(positions, x.size(-1), base)  # (T, d/2) or (B, T, d/2)
    angle = angle.unsqueeze(-3).repeat_interleave(2, dim=-1)  # (1, T, d) or (B, 1, T, d)
    even, odd = x.unflatten(-1, (-1, 2)).unbind(-1)
    crossed = torch.stack((odd.neg(), even), dim=-1).flatten(-2)  # (B, H, T, d)
    return torch.addcmul(x * angle.cos(), crossed.to(angle), angle.sin()).to(x)

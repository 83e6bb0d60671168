"""The angles of rotary positions (Su et al. 2021)."""

import torch

__all__ = ["rotary_angles"]


def rotary_angles(positions: torch.Tensor, d: int, base: float = 10000.0) -> torch.Tensor:
    """Return position · base^(-2i/d) for the pairs i: (…, d/2), float32, of integers (…). Raises ValueError for odd d."""
    if d % 2 != 0:
        raise ValueError("a head needs an even number of features")
    pair = torch.arange(d // 2, dtype=torch.float64, device=positions.device)
    frequency = torch.pow(float(base), -2.0 * pair / d)  # (d/2,)
    return torch.mul(positions.unsqueeze(-1).to(torch.float64), frequency).to(torch.float32)

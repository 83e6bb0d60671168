"""Divide each vector by the root of its mean square (Zhang & Sennrich 2019)."""

import torch
from torch import nn

__all__ = ["RMSNorm"]


class RMSNorm(nn.Module):
    """Root mean square normalisation over the last axis, with one learned factor per feature."""

    def __init__(self, d_model: int, eps: float = 1e-5):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(d_model)), eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return (…, D) in the dtype of x, for x (…, D)."""
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        return nn.functional.rms_norm(wide, self.weight.shape, self.weight.to(wide), self.eps).to(x)

"""A residual connection, then layer normalisation (He et al. 2016; Ba et al. 2016)."""

import torch
from torch import nn
from torch.nn import functional as F

__all__ = ["AddNorm"]


class AddNorm(nn.Module):
    """Compute `LayerNorm(dropout(Y) + X)`."""

    def __init__(self, normalized_shape: int | list[int] | torch.Size, dropout: float):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, X: torch.Tensor, Y: torch.Tensor) -> torch.Tensor:
        """Combine the input X and the output Y of a sublayer, both (B, T, D). Returns (B, T, D)."""
        added = torch.add(X, F.dropout(Y, self.dropout.p, self.training))
        return F.layer_norm(added, self.ln.normalized_shape, self.ln.weight, self.ln.bias, self.ln.eps)

"""A sinusoidal positional encoding (Vaswani et al. 2017, section 3.5)."""

import torch
from torch import nn

__all__ = ["PositionalEncoding"]


class PositionalEncoding(nn.Module):
    """Add row `i` of the table `P` (1, max_len, D) to position `i`, then apply dropout."""

    def __init__(self, num_hiddens: int, dropout: float, max_len: int = 1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        position = torch.arange(max_len, dtype=torch.float64)
        pair = torch.arange((num_hiddens + 1) // 2, dtype=torch.float64)
        frequency = torch.pow(10000.0, -2 * pair / num_hiddens)
        angle = torch.outer(position, frequency)  # (max_len, ⌈D/2⌉)
        table = torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)  # (max_len, D or D+1)
        table = table[None, :, :num_hiddens].to(torch.get_default_dtype())  # (1, max_len, D)
        self.register_buffer("P", table, persistent=False)

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """Add the positions to X (B, T, D), with T at most max_len. Returns (B, T, D) in the dtype of X."""
        return self.dropout(X + self.P[:, : X.size(1)].to(X))

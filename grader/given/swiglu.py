"""A feed-forward network with a gate (Shazeer 2020)."""

import torch
from torch import nn

__all__ = ["SwiGLU"]


class SwiGLU(nn.Module):
    """Two layers side by side, of which one opens and closes the other, and a layer back."""

    def __init__(self, d_model: int, d_hidden: int):
        super().__init__()
        self.W_gate, self.W_up = (nn.Linear(d_model, d_hidden, bias=False) for _ in range(2))
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return (…, D) for x (…, D)."""
        gate = self.W_gate(x)
        return self.W_down(gate * gate.sigmoid() * self.W_up(x))

"""The same two-layer network at every position (Vaswani et al. 2017, section 3.3)."""

import torch
from torch import nn

__all__ = ["PositionWiseFFN"]


class PositionWiseFFN(nn.Module):
    """Compute `dense2(ReLU(dense1(x)))` for each vector x of a sequence."""

    def __init__(self, ffn_num_input: int, ffn_num_hiddens: int, ffn_num_outputs: int):
        super().__init__()
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens)
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs)

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """Apply the network to every position: (B, T, ffn_num_input) to (B, T, ffn_num_outputs)."""
        return self.dense2(self.dense1(X).clamp(min=0))

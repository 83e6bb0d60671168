"""One layer of the encoder (Vaswani et al. 2017, section 3.1)."""

import torch
from torch import nn

from grader.given import AddNorm, MultiHeadAttention, PositionWiseFFN

__all__ = ["EncoderBlock"]


class EncoderBlock(nn.Module):
    """Self-attention, then the position-wise network, each with a residual connection and a normalisation."""

    def __init__(
        self,
        key_size: int,
        query_size: int,
        value_size: int,
        num_hiddens: int,
        norm_shape: int | list[int],
        ffn_num_input: int,
        ffn_num_hiddens: int,
        num_heads: int,
        dropout: float = 0.0,
        use_bias: bool = False,
    ):
        super().__init__()
        self.attention = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout, use_bias
        )
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm2 = AddNorm(norm_shape, dropout)

    def forward(self, X: torch.Tensor, valid_lens: torch.Tensor | None = None) -> torch.Tensor:
        """Apply the block to X (B, T, D); valid_lens: None, (B,) or (B, T). Returns (B, T, D)."""
        X = self.addnorm1(X, self.attention(X, X, X, valid_lens))  # (B, T, D)
        return self.addnorm2(X, self.ffn(X))  # (B, T, D)

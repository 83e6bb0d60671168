"""The encoder: from tokens to one vector in context for each of them (Vaswani et al. 2017, section 3.1)."""

import torch
from torch import nn

from grader.given import EncoderBlock, PositionalEncoding

__all__ = ["TransformerEncoder"]


class TransformerEncoder(nn.Module):
    """Embedding times √D, positions, then `num_layers` encoder blocks.

    After a call, `attention_weights` is a list with one tensor (B·H, T, T) per layer.
    """

    def __init__(
        self,
        vocab_size: int,
        key_size: int,
        query_size: int,
        value_size: int,
        num_hiddens: int,
        norm_shape: int | list[int],
        ffn_num_input: int,
        ffn_num_hiddens: int,
        num_heads: int,
        num_layers: int,
        dropout: float = 0.0,
        use_bias: bool = False,
    ):
        super().__init__()
        self.num_hiddens = num_hiddens
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            block = EncoderBlock(
                key_size,
                query_size,
                value_size,
                num_hiddens,
                norm_shape,
                ffn_num_input,
                ffn_num_hiddens,
                num_heads,
                dropout,
                use_bias,
            )
            self.blks.add_module(f"block{i}", block)
        self.attention_weights: list[torch.Tensor | None] = [None] * num_layers

    def forward(self, X: torch.Tensor, valid_lens: torch.Tensor | None = None, *args: object) -> torch.Tensor:
        """Encode tokens X (B, T); valid_lens: None, (B,) or (B, T). Returns (B, T, D)."""
        X = self.pos_encoding(self.embedding(X) * self.num_hiddens**0.5)  # (B, T, D)
        for i, block in enumerate(self.blks):
            X = block(X, valid_lens)  # (B, T, D)
            self.attention_weights[i] = block.attention.attention.attention_weights  # (B·H, T, T)
        return X

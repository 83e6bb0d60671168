"""Scores for every next token, given the encoder's outputs (Vaswani et al. 2017, section 3.1)."""

import torch
from torch import nn

from grader.given import DecoderBlock, PositionalEncoding

__all__ = ["TransformerDecoder"]


class TransformerDecoder(nn.Module):
    """Embedding times √D, positions, `num_layers` decoder blocks, and a linear layer to the vocabulary.

    After a call, `attention_weights` is a list of two lists with one tensor per layer: the weights of the
    self-attentions, (B·H, T, steps so far), then those of the cross-attentions, (B·H, T, S).
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
    ):
        super().__init__()
        self.num_hiddens = num_hiddens
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, num_hiddens)
        self.pos_encoding = PositionalEncoding(num_hiddens, dropout)
        self.blks = nn.Sequential()
        for i in range(num_layers):
            block = DecoderBlock(
                key_size,
                query_size,
                value_size,
                num_hiddens,
                norm_shape,
                ffn_num_input,
                ffn_num_hiddens,
                num_heads,
                dropout,
                i,
            )
            self.blks.add_module(f"block{i}", block)
        self.dense = nn.Linear(num_hiddens, vocab_size)
        self.attention_weights: list[list[torch.Tensor | None]] = [[None] * num_layers for _ in range(2)]

    def init_state(
        self, enc_outputs: torch.Tensor, enc_valid_lens: torch.Tensor | None, *args: object
    ) -> list:
        """Create the state before the first step: [enc_outputs (B, S, D), enc_valid_lens, [None] * L]."""
        return [enc_outputs, enc_valid_lens, [None] * self.num_layers]

    def forward(self, X: torch.Tensor, state: list) -> tuple[torch.Tensor, list]:
        """Score the next word after each token of X (B, T). Returns (B, T, V) and the state.

        In eval mode positions continue where the last call stopped; training starts at position 0.
        """
        first = 0 if self.training or state[2][0] is None else state[2][0].size(1)
        table = self.pos_encoding.P[:, first : first + X.size(1)]  # (1, T, D)
        X = self.embedding(X) * self.num_hiddens**0.5  # (B, T, D)
        X = self.pos_encoding.dropout(X + table.to(X))  # (B, T, D)
        for i, block in enumerate(self.blks):
            X, state = block(X, state)  # (B, T, D)
            self.attention_weights[0][i] = block.attention1.attention.attention_weights
            self.attention_weights[1][i] = block.attention2.attention.attention_weights
        return self.dense(X), state

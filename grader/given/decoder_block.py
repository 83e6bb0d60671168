"""One layer of the decoder (Vaswani et al. 2017, section 3.1)."""

import torch
from torch import nn

from grader.given import AddNorm, MultiHeadAttention, PositionWiseFFN

__all__ = ["DecoderBlock"]


class DecoderBlock(nn.Module):
    """Masked self-attention, cross-attention to the encoder, then the position-wise network.

    `i` is the index of this layer: in eval mode `state[2][i]` holds its inputs of all earlier steps.
    """

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
        dropout: float,
        i: int,
    ):
        super().__init__()
        self.i = i
        sizes = (key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.attention1 = MultiHeadAttention(*sizes)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(*sizes)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X: torch.Tensor, state: list) -> tuple[torch.Tensor, list]:
        """Apply the block to X (B, T, D) with the state [enc_outputs (B, S, D), enc_valid_lens, cache].

        Training: X is the whole target. Prediction (eval): X is the next step, or the next few.
        Returns (B, T, D) and the state.
        """
        enc_outputs, enc_valid_lens, cache = state
        before = None if self.training else cache[self.i]  # (B, earlier steps, D)
        keys = X if before is None else torch.cat((before, X), dim=1)  # (B, steps so far, D)
        if not self.training:
            cache[self.i] = keys
        # A query sees all steps before this call, and the steps of this call up to its own.
        visible = torch.ones(X.size(1), keys.size(1), dtype=torch.long, device=X.device)
        causal_lens = visible.tril(diagonal=keys.size(1) - X.size(1)).sum(dim=1)  # (T,)
        Y = self.attention1(X, keys, keys, causal_lens.expand(X.size(0), -1))  # (B, T, D)
        Y = self.addnorm1(X, Y)
        Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))  # (B, T, D)
        return self.addnorm3(Z, self.ffn(Z)), state

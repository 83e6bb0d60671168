"""Several attentions in parallel, each on a separate projection (Vaswani et al. 2017, section 3.2.2)."""

import torch
from torch import nn

from grader.given import DotProductAttention

__all__ = ["MultiHeadAttention"]


class MultiHeadAttention(nn.Module):
    """Project, attend in every head, concatenate the heads, project again.

    `attention.attention_weights` keeps the weights before dropout, (B·H, T, S), row `b·H + h`.
    """

    def __init__(
        self,
        key_size: int,
        query_size: int,
        value_size: int,
        num_hiddens: int,
        num_heads: int,
        dropout: float,
        bias: bool = False,
    ):
        super().__init__()
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    @property
    def attention_weights(self) -> torch.Tensor | None:
        """The weights of the latest call, (B·H, T, S); None before the first."""
        return self.attention.attention_weights

    def forward(
        self,
        queries: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        valid_lens: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Attend from queries (B, T, query_size) to keys (B, S, key_size) and values (B, S, value_size).

        valid_lens: None, (B,) or (B, T). Returns (B, T, D).
        """
        if valid_lens is not None:
            valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)  # (B·H,) or (B·H, T)
        heads = self.attention(
            self._split(self.W_q(queries)),
            self._split(self.W_k(keys)),
            self._split(self.W_v(values)),
            valid_lens,
        )  # (B·H, T, d)
        joined = heads.unflatten(0, (-1, self.num_heads)).transpose(1, 2).flatten(2)  # (B, T, D)
        return self.W_o(joined)

    def _split(self, X: torch.Tensor) -> torch.Tensor:
        """Split the features into heads: (B, T, D) to (B·H, T, d)."""
        return X.unflatten(-1, (self.num_heads, -1)).transpose(1, 2).flatten(0, 1)

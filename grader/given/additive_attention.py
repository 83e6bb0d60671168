"""Additive attention: a network with one hidden layer computes the scores (Bahdanau et al. 2015, A.1.2)."""

import torch
from torch import nn

from grader.given import masked_softmax

__all__ = ["AdditiveAttention"]


class AdditiveAttention(nn.Module):
    """Attention with the scores `w_v · tanh(W_q q + W_k k)`.

    `attention_weights` keeps the weights before dropout, (B, T, S).
    """

    def __init__(self, key_size: int, query_size: int, num_hiddens: int, dropout: float):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)
        self.attention_weights: torch.Tensor | None = None

    def forward(
        self,
        queries: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        valid_lens: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Attend from queries (B, T, q) to keys (B, S, k) and values (B, S, v).

        valid_lens: None, (B,) or (B, T). Returns (B, T, v).
        """
        # Pair every query with every key, then project both halves of each pair.
        num_queries, num_keys = queries.size(1), keys.size(1)
        each_query = queries.unsqueeze(2).expand(-1, -1, num_keys, -1)  # (B, T, S, q)
        each_key = keys.unsqueeze(1).expand(-1, num_queries, -1, -1)  # (B, T, S, k)
        hidden = torch.add(self.W_q(each_query), self.W_k(each_key)).tanh()  # (B, T, S, D)
        scores = self.w_v(hidden).flatten(-2)  # (B, T, S)
        self.attention_weights = masked_softmax(scores, valid_lens)  # (B, T, S)
        return torch.einsum("bts,bsv->btv", self.dropout(self.attention_weights), values)

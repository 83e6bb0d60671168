"""Scaled dot-product attention (Vaswani et al. 2017, section 3.2.1)."""

import torch
from torch import nn
from torch.nn import functional as F

__all__ = ["DotProductAttention"]


class DotProductAttention(nn.Module):
    """Compute `softmax(Q Kᵀ / √d) V`.

    `attention_weights` keeps the weights before dropout, (B, T, S).

    Do not copy how this class gets its weights: it calls PyTorch's function with an identity matrix in place of
    the values. That takes one more product, (T, S) times (S, S), and an S×S matrix, so time and memory grow
    faster with S than they need to. It is done here only so that the reference solutions, which compute the
    softmax themselves, can be compared with PyTorch's own function. Your solution should compute the weights
    directly.
    """

    def __init__(self, dropout: float):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.attention_weights: torch.Tensor | None = None

    def forward(
        self,
        queries: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        valid_lens: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Attend from queries (B, T, d) to keys (B, S, d) and values (B, S, v).

        valid_lens: None, (B,) or (B, T). Returns (B, T, v).
        """
        batch_size, num_keys, _ = keys.shape
        attend = None
        if valid_lens is not None:
            lens = valid_lens.reshape(batch_size, -1, 1)  # (B, 1 or T, 1)
            attend = torch.arange(num_keys, device=keys.device).lt(lens)  # (B, 1 or T, S)
            attend = attend.expand(-1, queries.size(1), -1)  # (B, T, S)
        # PyTorch's function returns weights @ values, and not the weights. With the identity in place of the
        # values it returns the weights, before any dropout.
        identity = torch.eye(num_keys, dtype=keys.dtype, device=keys.device)  # (S, S)
        identity = identity.expand(batch_size, -1, -1)  # (B, S, S)
        self.attention_weights = F.scaled_dot_product_attention(
            queries, keys, identity, attn_mask=attend
        )  # (B, T, S)
        return torch.bmm(self.dropout(self.attention_weights), values)  # (B, T, v)

"""Scaled dot-product attention (Vaswani et al. 2017, section 3.2.1)."""

import torch
from torch import nn
from torch.nn import functional as F

__all__ = ["DotProductAttention"]


class DotProductAttention(nn.Module):
    """`softmax(Q Kᵀ / √d) V`. The weights before dropout are kept in `attention_weights`."""

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
        """(B, T, d), (B, S, d), (B, S, v) → (B, T, v); valid_lens: None, (B,) or (B, T)."""
        batch_size, num_keys, _ = keys.shape
        attend = None
        if valid_lens is not None:
            lens = valid_lens.reshape(batch_size, -1, 1)  # (B, 1 or T, 1)
            attend = torch.arange(num_keys, device=keys.device).lt(lens)  # (B, 1 or T, S)
            attend = attend.expand(-1, queries.size(1), -1)  # (B, T, S)
        # PyTorch's function returns weights @ values and keeps the weights to itself. With the identity
        # in the place of the values it hands out the weights, before any dropout.
        identity = torch.eye(num_keys, dtype=keys.dtype, device=keys.device)  # (S, S)
        identity = identity.expand(batch_size, -1, -1)  # (B, S, S)
        self.attention_weights = F.scaled_dot_product_attention(
            queries, keys, identity, attn_mask=attend
        )  # (B, T, S)
        return torch.bmm(self.dropout(self.attention_weights), values)  # (B, T, v)

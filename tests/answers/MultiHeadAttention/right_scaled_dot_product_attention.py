# exercise: MultiHeadAttention
# says: F.scaled_dot_product_attention with a boolean mask
# kind: same
# breaks:

import torch
import torch.nn.functional as F
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.dropout = dropout
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self._last = None

    def _heads(self, x: torch.Tensor) -> torch.Tensor:
        b, n, d = x.shape
        return x.view(b, n, self.num_heads, d // self.num_heads).transpose(1, 2)

    @property
    def attention_weights(self):
        """Worked out only when somebody looks."""
        q, k, mask = self._last
        s = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        if mask is not None:
            s = s.masked_fill(~mask, float('-inf'))
        return s.softmax(-1)

    def forward(self, queries, keys, values, valid_lens):
        q, k, v = self._heads(self.W_q(queries)), self._heads(self.W_k(keys)), self._heads(self.W_v(values))
        mask = None
        if valid_lens is not None:
            mask = torch.arange(k.shape[2], device=k.device) < valid_lens.reshape(k.shape[0], 1, -1, 1)
        self._last = (q.detach(), k.detach(), mask)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask,
                                           dropout_p=self.dropout * self.training)
        return self.W_o(y.transpose(1, 2).flatten(2))

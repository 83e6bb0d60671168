# exercise: MultiHeadAttention
# says: 3-D parameters: one matrix per head, applied by einsum
# kind: same
# breaks:

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    """W_q[h], W_k[h], W_v[h] are the matrices of head h, as in the paper."""

    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        H, d = num_heads, num_hiddens // num_heads
        self.W_q = nn.Parameter(torch.randn(H, query_size, d) * query_size ** -0.5)
        self.W_k = nn.Parameter(torch.randn(H, key_size, d) * key_size ** -0.5)
        self.W_v = nn.Parameter(torch.randn(H, value_size, d) * value_size ** -0.5)
        self.W_o = nn.Parameter(torch.randn(H, d, num_hiddens) * num_hiddens ** -0.5)
        if bias:
            self.b_q = nn.Parameter(torch.zeros(H, d))
            self.b_k = nn.Parameter(torch.zeros(H, d))
            self.b_v = nn.Parameter(torch.zeros(H, d))
            self.b_o = nn.Parameter(torch.zeros(num_hiddens))
        self.bias = bias
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        q = torch.einsum('btx,hxd->bhtd', queries, self.W_q)
        k = torch.einsum('bsx,hxd->bhsd', keys, self.W_k)
        v = torch.einsum('bsx,hxd->bhsd', values, self.W_v)
        if self.bias:
            q, k, v = q + self.b_q[:, None], k + self.b_k[:, None], v + self.b_v[:, None]
        scores = torch.einsum('bhtd,bhsd->bhts', q, k) * q.shape[-1] ** -0.5
        if valid_lens is not None:
            keep = torch.arange(k.shape[2], device=k.device) < valid_lens.reshape(k.shape[0], 1, -1, 1)
            scores = scores.masked_fill(~keep, float('-inf'))
        self.attention_weights = scores.softmax(dim=-1)
        heads = torch.einsum('bhts,bhsd->bhtd', self.dropout(self.attention_weights), v)
        out = torch.einsum('bhtd,hdo->bto', heads, self.W_o)
        return out + self.b_o if self.bias else out

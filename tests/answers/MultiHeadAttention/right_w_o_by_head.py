# exercise: MultiHeadAttention
# says: adds up each head's share of W_o instead of concatenating
# kind: same
# breaks:

import torch
from torch import nn
from grader.given import DotProductAttention


class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        Q, K, V = self.W_q(queries), self.W_k(keys), self.W_v(values)
        d = Q.shape[-1] // self.num_heads
        total, maps = 0, []
        for h in range(self.num_heads):
            part = slice(h * d, h * d + d)
            head = self.attention(Q[..., part], K[..., part], V[..., part], valid_lens)
            maps.append(self.attention.attention_weights)
            total = total + head @ self.W_o.weight[:, part].T
        self.attention_weights = maps
        return total if self.W_o.bias is None else total + self.W_o.bias

# exercise: MultiHeadAttention
# says: one qkv Linear where all sizes agree, separate ones otherwise
# kind: same
# breaks:

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):

    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.fused = key_size == query_size == value_size
        if self.fused:
            self.qkv = nn.Linear(query_size, 3 * num_hiddens, bias=bias)
        else:
            self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
            self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
            self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def project(self, queries, keys, values):
        if not self.fused:
            return self.W_q(queries), self.W_k(keys), self.W_v(values)
        if queries is keys and keys is values:
            return self.qkv(queries).chunk(3, dim=-1)
        q = self.qkv(queries).chunk(3, dim=-1)[0]
        k = self.qkv(keys).chunk(3, dim=-1)[1]
        v = self.qkv(values).chunk(3, dim=-1)[2]
        return q, k, v

    def forward(self, queries, keys, values, valid_lens):
        q, k, v = (transpose_qkv(x, self.num_heads) for x in self.project(queries, keys, values))
        if valid_lens is not None:
            valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)
        return self.W_o(transpose_output(self.attention(q, k, v, valid_lens), self.num_heads))

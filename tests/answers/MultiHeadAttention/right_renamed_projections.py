# exercise: MultiHeadAttention
# says: projections renamed consistently: query_proj, key_proj, value_proj, out_proj
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
        self.query_proj = nn.Linear(query_size, num_hiddens, bias=bias)
        self.key_proj = nn.Linear(key_size, num_hiddens, bias=bias)
        self.value_proj = nn.Linear(value_size, num_hiddens, bias=bias)
        self.out_proj = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        q = transpose_qkv(self.query_proj(queries), self.num_heads)
        k = transpose_qkv(self.key_proj(keys), self.num_heads)
        v = transpose_qkv(self.value_proj(values), self.num_heads)
        lens = valid_lens
        if lens is not None:
            lens = lens.repeat_interleave(self.num_heads, dim=0)
        return self.out_proj(transpose_output(self.attention(q, k, v, lens), self.num_heads))

# exercise: MultiHeadAttention
# says: contract layers, multiplied in one product per call
# kind: same
# breaks:

import torch
import torch.nn.functional as F
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv


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
        if queries is keys and keys is values:       # self-attention: one big product
            weight = torch.cat([self.W_q.weight, self.W_k.weight, self.W_v.weight])
            bias = None
            if self.W_q.bias is not None:
                bias = torch.cat([self.W_q.bias, self.W_k.bias, self.W_v.bias])
            q, k, v = F.linear(queries, weight, bias).chunk(3, dim=-1)
        else:
            q, k, v = self.W_q(queries), self.W_k(keys), self.W_v(values)
        q, k, v = (transpose_qkv(x, self.num_heads) for x in (q, k, v))
        if valid_lens is not None:
            valid_lens = valid_lens.repeat_interleave(self.num_heads, 0)
        return self.W_o(transpose_output(self.attention(q, k, v, valid_lens), self.num_heads))

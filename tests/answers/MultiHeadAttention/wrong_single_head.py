# exercise: MultiHeadAttention
# says: ignores num_heads: one head over all features
# kind: mistake
# breaks: values, gradients

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
        out = self.attention(self.W_q(queries), self.W_k(keys), self.W_v(values), valid_lens)
        return self.W_o(out)

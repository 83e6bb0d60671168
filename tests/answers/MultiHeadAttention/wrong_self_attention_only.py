# exercise: MultiHeadAttention
# says: projects the queries three times: keys and values are never read
# kind: mistake
# breaks: values, gradients

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        X = queries
        Q, K, V = [transpose_qkv(W(X), self.num_heads) for W in (self.W_q, self.W_k, self.W_v)]
        if valid_lens is not None:
            valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)
        return self.W_o(transpose_output(self.attention(Q, K, V, valid_lens), self.num_heads))

# exercise: MultiHeadAttention
# says: einsum from the projections to the output
# kind: same
# breaks:

import torch
from torch import nn, einsum
from grader.given import masked_softmax


class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.H = num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.drop = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        q = self.W_q(queries).unflatten(-1, (self.H, -1))      # b t h d
        k = self.W_k(keys).unflatten(-1, (self.H, -1))
        v = self.W_v(values).unflatten(-1, (self.H, -1))
        s = einsum('bthd,bshd->bhts', q, k) / q.shape[-1] ** 0.5
        lens = None if valid_lens is None else valid_lens.repeat_interleave(self.H, dim=0)
        self.attention_weights = masked_softmax(s.flatten(0, 1), lens)
        a = self.drop(self.attention_weights).unflatten(0, (-1, self.H))
        return self.W_o(einsum('bhts,bshd->bthd', a, v).flatten(2))

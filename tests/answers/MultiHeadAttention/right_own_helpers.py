# exercise: MultiHeadAttention
# says: its own mask, attention and head functions
# kind: same
# breaks:

import math
import torch
from torch import nn


def split_heads(t, n):
    return torch.stack(t.chunk(n, dim=-1), dim=1)


def join_heads(t):
    return torch.cat(list(t.unbind(dim=1)), dim=-1)


def additive_mask(lens, T, S, like):
    m = like.new_zeros(lens.shape[0], T, S)
    for b in range(lens.shape[0]):
        for t in range(T):
            n = lens[b] if lens.dim() == 1 else lens[b, t]
            m[b, t, int(n):] = -torch.inf
    return m.unsqueeze(1)


def attend(q, k, v, mask, drop):
    weights = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        weights = weights + mask
    weights = weights.softmax(dim=-1)
    return drop(weights) @ v, weights


class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.n = num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.drop = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        q, k, v = split_heads(self.W_q(queries), self.n), split_heads(self.W_k(keys), self.n), split_heads(self.W_v(values), self.n)
        mask = None if valid_lens is None else additive_mask(valid_lens, q.shape[2], k.shape[2], q)
        out, self.attention_weights = attend(q, k, v, mask, self.drop)
        return self.W_o(join_heads(out))

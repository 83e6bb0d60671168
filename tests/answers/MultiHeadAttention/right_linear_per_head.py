# exercise: MultiHeadAttention
# says: one small Linear per head in a ModuleList
# kind: same
# breaks:

import torch
from torch import nn
from grader.given import DotProductAttention


class MultiHeadAttention(nn.Module):
    """Every head has projections of its own."""

    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        d = num_hiddens // num_heads
        self.W_q = nn.ModuleList([nn.Linear(query_size, d, bias=bias) for _ in range(num_heads)])
        self.W_k = nn.ModuleList([nn.Linear(key_size, d, bias=bias) for _ in range(num_heads)])
        self.W_v = nn.ModuleList([nn.Linear(value_size, d, bias=bias) for _ in range(num_heads)])
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.attention = DotProductAttention(dropout)

    def forward(self, queries, keys, values, valid_lens):
        outputs, self.attention_weights = [], []
        for W_q, W_k, W_v in zip(self.W_q, self.W_k, self.W_v):
            outputs.append(self.attention(W_q(queries), W_k(keys), W_v(values), valid_lens))
            self.attention_weights.append(self.attention.attention_weights)
        return self.W_o(torch.cat(outputs, dim=-1))

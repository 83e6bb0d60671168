# exercise: MixedUpAttention
# says: written anew with a fourth axis for the heads
# kind: same
# breaks:

import math
import torch
from torch import nn


class MixedUpAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.dropout = nn.Dropout(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        def heads(x):
            return x.reshape(x.shape[0], x.shape[1], self.num_heads, -1).transpose(1, 2)

        q, k, v = heads(self.W_q(queries)), heads(self.W_k(keys)), heads(self.W_v(values))
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        if valid_lens is not None:
            seen = torch.arange(k.shape[2], device=k.device) < valid_lens.reshape(-1, 1, 1, 1) \
                if valid_lens.dim() == 1 else \
                torch.arange(k.shape[2], device=k.device) < valid_lens[:, None, :, None]
            scores = scores.masked_fill(~seen, float('-inf'))
        self.attention_weights = torch.softmax(scores, dim=-1)
        out = self.dropout(self.attention_weights) @ v
        return self.W_o(out.transpose(1, 2).reshape(out.shape[0], out.shape[2], -1))

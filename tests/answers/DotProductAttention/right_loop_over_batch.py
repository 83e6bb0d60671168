# exercise: DotProductAttention
# says: one sequence at a time
# kind: same
# breaks:

import math
import torch
from torch import nn

class DotProductAttention(nn.Module):
    def __init__(self, dropout, **kwargs):
        super().__init__(**kwargs)
        self.dropout = nn.Dropout(dropout)

    def one(self, q, k, lens):
        s = torch.mm(q, k.t()) / math.sqrt(q.shape[1])
        if lens is not None:
            cols = torch.arange(k.shape[0], device=k.device).unsqueeze(0)
            s = torch.where(cols < lens.reshape(-1, 1), s, torch.full_like(s, float('-inf')))
        return torch.softmax(s, dim=1)

    def forward(self, queries, keys, values, valid_lens=None):
        weights, outputs = [], []
        for b in range(queries.shape[0]):
            w = self.one(queries[b], keys[b], None if valid_lens is None else valid_lens[b])
            weights.append(w)
            outputs.append(self.dropout(w) @ values[b])
        self.attention_weights = torch.stack(weights)
        return torch.stack(outputs)

# exercise: DotProductAttention
# says: a tiled online softmax over blocks of keys
# kind: same
# breaks:

import torch
from torch import nn

class DotProductAttention(nn.Module):
    """Goes over the keys in blocks and keeps a running maximum and sum."""
    BLOCK = 2

    def __init__(self, dropout):
        super().__init__()
        self.p = dropout

    def forward(self, queries, keys, values, valid_lens=None):
        B, T, d = queries.shape
        S = keys.shape[1]
        if valid_lens is None:
            valid_lens = torch.full((B,), S, device=queries.device)
        lens = valid_lens.reshape(B, -1, 1)
        low = torch.finfo(queries.dtype).min
        m = queries.new_full((B, T, 1), low)
        total = queries.new_zeros(B, T, 1)
        acc = queries.new_zeros(B, T, values.shape[-1])
        kept = []
        for start in range(0, S, self.BLOCK):
            stop = min(S, start + self.BLOCK)
            s = queries @ keys[:, start:stop].transpose(1, 2) / d ** 0.5
            cols = torch.arange(start, stop, device=queries.device)
            hidden = cols >= lens
            s = s.masked_fill(hidden, low)
            new_m = torch.maximum(m, s.amax(-1, keepdim=True))
            p = torch.exp(s - new_m).masked_fill(hidden, 0)
            shrink = torch.exp(m - new_m)
            total = total * shrink + p.sum(-1, keepdim=True)
            drop = torch.nn.functional.dropout(p, self.p, self.training)
            acc = acc * shrink + drop @ values[:, start:stop]
            m = new_m
            kept.append(s)
        with torch.no_grad():
            everything = torch.cat(kept, dim=-1)
            self.attention_weights = torch.exp(everything - m) / total
        return acc / total

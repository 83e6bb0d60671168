# exercise: TransparentSelfAttention
# says: a loop over heads, joined with cat
# kind: same
# breaks:

import math
import torch
from torch import nn

class TransparentSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.1):
        super().__init__()
        self.num_heads = num_heads
        self.W_Q = nn.Linear(embed_dim, embed_dim)
        self.W_K = nn.Linear(embed_dim, embed_dim)
        self.W_V = nn.Linear(embed_dim, embed_dim)
        self.fc_out = nn.Linear(embed_dim, embed_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        T = x.shape[1]
        past = torch.tril(torch.ones(T, T, device=x.device)) == 1
        outs, maps = [], []
        for q, k, v in zip(*(w(x).chunk(self.num_heads, -1) for w in (self.W_Q, self.W_K, self.W_V))):
            s = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.shape[-1])
            a = torch.softmax(torch.where(past, s, torch.full_like(s, float('-inf'))), dim=-1)
            maps.append(a)
            outs.append(torch.bmm(self.dropout(a), v))
        return self.fc_out(torch.cat(outs, dim=-1)), torch.stack(maps, dim=1)

# exercise: TransparentSelfAttention
# says: keeps a detached copy of the weights and drops afterwards
# kind: same
# breaks:

import torch
from torch import nn
import torch.nn.functional as F

class TransparentSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.1):
        super().__init__()
        self.num_heads = num_heads
        self.p = dropout
        self.W_Q, self.W_K, self.W_V = nn.Linear(embed_dim, embed_dim), nn.Linear(embed_dim, embed_dim), nn.Linear(embed_dim, embed_dim)
        self.fc_out = nn.Linear(embed_dim, embed_dim)

    def forward(self, x):
        T = x.size(1)
        q, k, v = [w(x).unflatten(2, (self.num_heads, -1)).transpose(1, 2) for w in (self.W_Q, self.W_K, self.W_V)]
        bias = torch.full((T, T), -torch.inf, dtype=x.dtype, device=x.device).triu(1)
        weights = (q @ k.mT * q.shape[-1] ** -0.5 + bias).softmax(-1)
        shown = weights.clone()
        weights = F.dropout(weights, self.p, self.training)
        return self.fc_out((weights @ v).transpose(1, 2).flatten(2)), shown

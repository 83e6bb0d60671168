# exercise: PositionalEncoding
# says: positions joined to X instead of added
# kind: different
# breaks: shapes, values

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        angles = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(0, num_hiddens, 2) / num_hiddens)
        self.register_buffer("P", torch.stack((angles.sin(), angles.cos()), 2).flatten(1)[None, :, :num_hiddens], persistent=False)

    def forward(self, X):
        P = self.P[:, :X.shape[1]].expand_as(X)
        return self.dropout(torch.cat((X, P), dim=-1))

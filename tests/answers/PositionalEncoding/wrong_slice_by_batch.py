# exercise: PositionalEncoding
# says: slices by batch size instead of length
# kind: mistake
# breaks: shapes, values

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        P = torch.zeros(1, max_len, num_hiddens)
        X = torch.arange(max_len).float()[:, None] / 10000 ** (torch.arange(0, num_hiddens, 2).float() / num_hiddens)
        P[..., 0::2] = X.sin()
        P[..., 1::2] = X.cos()[:, :num_hiddens // 2]
        self.register_buffer("P", P, persistent=False)

    def forward(self, X):
        return self.dropout(X + self.P[:, :X.size(0)])
